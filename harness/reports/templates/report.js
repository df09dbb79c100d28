// Sorts and filters the verdict table, opens details, and says a mark's values beside it. The page reads without it.
"use strict";

(() => {
  const table = document.getElementById("verdict-table");
  const controls = document.getElementById("controls");
  const body = table.tBodies[table.tBodies.length - 1];
  const rows = [...body.rows].filter((row) => row.dataset.verdict);

  // Sorting: by the keys that the cells carry, in the order of the spec again on the third press.
  const headings = [...table.tHead.rows[0].cells];
  const sortBy = document.getElementById("sort-by");
  const ways = { text: ["A to Z", "Z to A"], number: ["smallest first", "largest first"], verdict: ["best first", "worst first"] };
  const firstWay = (kind) => (kind === "number" ? "descending" : "ascending");
  const other = { ascending: "descending", descending: "ascending" };

  const compared = (column, direction) => (a, b) => {
    const [x, y] = [a, b].map((row) => row.cells[column].dataset.sort);
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined); // not measured: last
    const found = headings[column].dataset.kind === "text" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
    return direction === "ascending" ? found : -found;
  };

  const sort = (column, direction) => {
    headings.forEach((heading, i) => {
      if (heading.dataset.kind) heading.setAttribute("aria-sort", i === column ? direction : "none");
    });
    const order = column === null ? rows : [...rows].sort(compared(column, direction));
    body.append(...order);
    sortBy.value = column === null ? "" : `${column} ${direction}`;
  };

  headings.forEach((heading, column) => {
    const kind = heading.dataset.kind;
    if (!kind) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const first = firstWay(kind);
      if (now === "none") sort(column, first);
      else if (now === first) sort(column, other[first]);
      else sort(null);
    });
    ["ascending", "descending"].forEach((direction, i) => {
      sortBy.add(new Option(`${button.textContent}: ${ways[kind][i]}`, `${column} ${direction}`));
    });
  });
  sortBy.addEventListener("change", () => {
    const [column, direction] = sortBy.value.split(" ");
    if (direction) sort(Number(column), direction);
    else sort(null);
  });

  // Filters: a row stays if its name holds the words and its verdict is ticked, or none is.
  const name = document.getElementById("name-filter");
  const boxes = [...controls.querySelectorAll("input[type=checkbox]")];
  const filter = () => {
    const words = name.value.trim().toLowerCase();
    const wanted = boxes.filter((box) => box.checked).map((box) => box.value);
    for (const row of rows) {
      const named = row.cells[0].dataset.sort.toLowerCase().includes(words);
      row.hidden = !(named && (!wanted.length || wanted.includes(row.dataset.verdict)));
    }
    const left = rows.filter((row) => !row.hidden).length;
    document.getElementById("shown").value = left < rows.length ? `${left} of ${rows.length} variants shown` : "";
  };
  controls.addEventListener("input", filter);
  controls.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("show-all").addEventListener("click", () => { controls.reset(); sort(null); filter(); });
  controls.hidden = rows.length < 2;

  // Details: one button for all, and a link opens what it leads to in browsers that do not.
  const details = [...document.querySelectorAll("details")];
  const all = document.getElementById("open-all");
  const told = () => { all.textContent = details.every((d) => d.open) ? "Close all" : "Open all"; };
  all.addEventListener("click", () => {
    const open = !details.every((d) => d.open);
    for (const d of details) d.open = open;
  });
  for (const d of details) d.addEventListener("toggle", told);
  all.hidden = details.length < 2;
  told();
  const reveal = () => { document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", ""); };
  addEventListener("hashchange", reveal);
  reveal();

  // Values of a mark: under the pointer or near it, or by the arrow keys; instead of the browser's own slow title.
  const tip = document.getElementById("tip");
  let byKeys = null; // the mark that arrow keys came to: its values stay beside it while the page scrolls
  const hide = () => { tip.hidden = true; byKeys = null; document.querySelector(".told")?.classList.remove("told"); };
  const show = (mark, x, y) => {
    hide();
    mark.classList.add("told");
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(x + 12, room))}px`;
    tip.style.top = `${y + tip.offsetHeight + 24 > innerHeight ? y - tip.offsetHeight - 12 : y + 16}px`;
  };
  const beside = (mark) => {
    const box = mark.getBoundingClientRect();
    show(mark, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
    byKeys = mark;
  };
  const near = (marks, x, y) => {
    let best = null, least = 14; // pixels
    for (const mark of marks) {
      const box = mark.getBoundingClientRect();
      if (mark.getAttribute("stroke-opacity") === "0") continue; // a curve is where its stroke is, not amid its box
      const away = Math.hypot(x - (box.left + box.right) / 2, y - (box.top + box.bottom) / 2);
      if (away < least) [best, least] = [mark, away];
    }
    return best;
  };
  for (const drawing of document.querySelectorAll(".wide, .narrow")) {
    const marks = [...drawing.querySelectorAll("title")].map((title) => { const mark = title.parentNode; title.remove(); return mark; });
    if (!marks.length) continue;
    const known = new Set(marks);
    let at = -1;
    drawing.tabIndex = 0;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", `${drawing.dataset.title}: arrow keys go from value to value`);
    drawing.addEventListener("pointermove", (event) => {
      const mark = known.has(event.target) ? event.target : near(marks, event.clientX, event.clientY);
      if (mark) show(mark, event.clientX, event.clientY);
      else hide();
    });
    drawing.addEventListener("pointerleave", hide);
    drawing.addEventListener("blur", hide);
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      at = at < 0 && step < 0 ? marks.length - 1 : (at + step + marks.length) % marks.length;
      const box = marks[at].getBoundingClientRect(), margin = 48; // a figure may be taller than the window
      scrollBy(0, Math.min(box.top - margin, 0) + Math.max(box.bottom + margin - innerHeight, 0));
      beside(marks[at]);
    });
  }
  addEventListener("scroll", () => (byKeys ? beside(byKeys) : hide()), { passive: true });
})();
