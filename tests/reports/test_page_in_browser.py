"""The page in a real browser: it asks for nothing, sorts, filters, says its values, and fits every screen and reader.

The pages are made of what two cores measured of `specs/quickstart.yaml` and of `specs/debian.yaml`, a confirmed stack
among it; then come the pages that go wrong first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from harness.commands.results import read_results
from harness.plan.model import Plan
from harness.records.files import read_model
from harness.reports.report import write_report
from harness.verdicts.model import Verdicts

from .edge_pages import PAGES

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e .[dev]")
axe_api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here: apt install chromium")

ROOT = Path(__file__).parents[2]
MEASURED, JUDGED = ROOT / "tests" / "verdicts" / "real", ROOT / "results" / "reference"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1100, "height": 900}
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Opens a page; whatever it does, it must say nothing on the console and ask for nothing but its own file."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def open_page(path: Path, viewport: dict[str, int] = DESK, **options: Any) -> Any:
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        asked.remove(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == []


def judged(spec: str) -> Verdicts:
    return read_model(JUDGED / spec / "verdicts.json", Verdicts)


def written(spec: str, folder: Path) -> Path:
    plan = read_model(MEASURED / spec / "plan.json", Plan)
    write_report(plan, judged(spec), *read_results(MEASURED / spec, plan), folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def verdicts() -> Verdicts:
    return judged("debian")


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written("quickstart", tmp_path_factory.mktemp("quickstart"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written("debian", tmp_path_factory.mktemp("debian"))


@pytest.fixture(params=["quickstart", "report"])
def either(request: pytest.FixtureRequest) -> Path:
    """The quickstart's page, and Debian's."""
    path: Path = request.getfixturevalue(request.param)
    return path


def shown_variants(page: Any) -> list[str]:
    return page.locator("tr[data-verdict]:visible th").all_inner_texts()


def sorted_by(page: Any) -> list[str | None]:
    return page.eval_on_selector_all("#verdict-table thead th", "all => all.map(th => th.getAttribute('aria-sort'))")


def too_wide(page: Any) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def violations(page: Any) -> list[str]:
    """What axe-core calls serious or critical, with the elements that it means; closed details are not looked into."""
    found = axe_api.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    bad = [violation for violation in found if violation["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {[node['html'][:200] for node in v['nodes'][:3]]}" for v in bad]


def test_the_page_is_small_enough_to_mail(either: Path) -> None:
    assert either.stat().st_size < 5_000_000


def test_the_quickstarts_page_sorts_filters_and_says_values(opened: Open, quickstart: Path) -> None:
    page, comparisons = opened(quickstart), judged("quickstart").comparisons
    assert shown_variants(page) == [c.variant for c in comparisons]
    page.get_by_role("button", name="speed-up").click()
    by_speed = sorted((c for c in comparisons if c.speed), key=lambda c: -c.speed.ratio)
    assert shown_variants(page) == [c.variant for c in by_speed]
    page.get_by_label("Name contains").fill("precision")
    assert sorted(shown_variants(page)) == ["precision-fp16", "precision-fp16-linear"]
    page.get_by_role("button", name="Reset").click()
    mark = page.locator(".wide[data-title^='Speed-up against'] [aria-label^='aggregate-spmm (']")
    mark.scroll_into_view_if_needed()
    mark.hover()
    assert page.locator("#tip").inner_text().startswith("aggregate-spmm (")
    page.mouse.move(2, 2)
    assert not page.locator("#tip").is_visible()


def test_headings_sort_by_the_number_and_then_give_the_order_of_the_spec_back(
    opened: Open, report: Path, verdicts: Verdicts
) -> None:
    page = opened(report)
    declared = [c.variant for c in verdicts.comparisons]
    assert shown_variants(page) == declared
    by_accuracy = sorted(verdicts.comparisons, key=lambda c: c.accuracy.delta_pp if c.accuracy else 0.0)
    expected = [c.variant for c in by_accuracy]
    texts = page.locator("tr[data-verdict] td:nth-child(2)").all_inner_texts()
    assert expected != [name for _, name in sorted(zip(texts, declared, strict=True))]

    heading = page.get_by_role("button", name="Δ accuracy")
    heading.click()
    numbers = page.eval_on_selector_all("tr[data-verdict]", "rows => rows.map(r => Number(r.cells[1].dataset.sort))")
    assert numbers == sorted(numbers, reverse=True)
    assert sorted_by(page) == ["none", "descending", "none", "none", "none", None]
    heading.press("Enter")
    assert shown_variants(page) == expected
    assert sorted_by(page)[1] == "ascending"
    heading.press("Space")
    assert shown_variants(page) == declared
    assert sorted_by(page)[1] == "none"

    page.get_by_role("button", name="verdict").click()
    chips = page.locator("tr[data-verdict] .chip").all_inner_texts()
    assert chips == ["accept"] * 2 + ["inconclusive"] * 2 + ["no-gain"] * 6 + ["reject"] * 3
    assert page.locator("#verdict-table tr.anchor").first.inner_text().startswith("baseline")


def test_what_was_not_measured_stands_last_whichever_way_it_is_sorted(opened: Open, edge_report: Any) -> None:
    page = opened(edge_report("each")[1] / "report.html")
    for _ in range(2):
        page.get_by_role("button", name="speed-up").click()
        assert set(shown_variants(page)[-2:]) == {"fp16", "spmm-gat"}


def test_rows_are_filtered_by_name_and_verdict_and_the_number_left_is_told(opened: Open, report: Path) -> None:
    page = opened(report)
    page.get_by_label("Name contains").fill("SAMPLING")
    assert shown_variants(page) == ["sampling-fixed", "sampling-importance", "sampling-labor"]
    assert page.locator("#shown").inner_text() == "3 of 13 variants shown"
    page.get_by_role("button", name="Reset").click()
    assert len(shown_variants(page)) == 13
    assert page.locator("#shown").inner_text() == ""
    page.get_by_label("accept (2)").check()
    assert shown_variants(page) == ["fanout-5-5", "aggregate-spmm"]
    page.get_by_label("reject (3)").check()
    page.get_by_label("Name contains").fill("-5")
    assert shown_variants(page) == ["fanout-5-5", "fanout-5-2"]
    page.get_by_label("Name contains").fill("no such variant")
    assert page.locator("#shown").inner_text() == "0 of 13 variants shown"


def test_a_phone_sorts_by_a_list(opened: Open, report: Path) -> None:
    page = opened(report, PHONE)
    assert not page.get_by_role("button", name="speed-up").is_visible()
    page.get_by_label("Sort by").select_option("speed-up [CI]: largest first")
    assert shown_variants(page)[:2] == ["cluster-random", "cluster-metis"]
    page.get_by_label("Sort by").select_option("order of the spec")
    assert shown_variants(page)[0] == "fanout-5-5"


def test_values_are_said_under_the_pointer_and_by_the_arrow_keys(opened: Open, report: Path) -> None:
    page = opened(report)
    drawing = page.locator(".wide[data-title^='Speed-up against']")
    mark = drawing.locator("[aria-label^='fanout-5-5 (accept)']")
    mark.scroll_into_view_if_needed()
    mark.hover()
    tip = page.locator("#tip")
    said = "fanout-5-5 (accept): change of accuracy, pp: −0.26 [−0.41, −0.12]; speed-up: 1.21 [1.11, 1.31]"
    assert tip.inner_text() == said
    box = drawing.locator("[aria-label^='cluster-random']").bounding_box()
    page.mouse.move(box["x"] + box["width"] + 4, box["y"] + box["height"] / 2)  # near it is enough
    assert tip.inner_text().startswith("cluster-random (reject)")
    page.mouse.move(2, 2)
    assert not tip.is_visible()
    drawing.focus()
    drawing.press("ArrowRight")
    first = tip.inner_text()
    drawing.press("ArrowRight")
    assert tip.inner_text() != first
    drawing.press("ArrowLeft")
    assert tip.inner_text() == first
    drawing.press("Escape")
    assert not tip.is_visible()


def test_arrow_keys_bring_a_mark_of_a_tall_figure_into_view_with_its_values(opened: Open, edge_report: Any) -> None:
    page = opened(edge_report("sixty")[1] / "report.html", {"width": 1100, "height": 500})
    drawing, tip = page.locator(".wide[data-title^='Where an epoch']"), page.locator("#tip")
    assert drawing.bounding_box()["height"] > 1000
    drawing.focus()
    said = set()
    for _ in range(2):  # from the first mark to the last, and back
        for key in ("ArrowRight", "ArrowLeft"):
            drawing.press(key)
            page.evaluate("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")
            assert tip.is_visible()
            box, mark = tip.bounding_box(), page.locator(".told").bounding_box()
            assert 0 <= box["y"] <= 500 - box["height"]
            assert -1 <= mark["y"] <= 500 - mark["height"] + 1
            said.add(tip.inner_text())
    assert len(said) > 1


def test_every_drawn_figure_has_a_caption_values_and_its_data(opened: Open, either: Path) -> None:
    page = opened(either)
    figures = page.locator("figure")
    assert figures.count() >= 4
    for figure in figures.all():
        assert len(figure.locator("figcaption").inner_text()) > 80
        link = figure.get_by_role("link", name="Data")
        own = either.parent / "figures" / link.get_attribute("download")
        assert urlopen(link.get_attribute("href")).read() == own.read_bytes()
        assert figure.locator(".wide [role=graphics-symbol][aria-label]:not(g)").count() > 0


def test_the_data_of_a_figure_are_downloaded_by_a_click(opened: Open, quickstart: Path) -> None:
    page = opened(quickstart)
    with page.expect_download() as download:
        page.locator("figure").first.get_by_role("link", name="Data").click()
    own = quickstart.parent / "figures" / download.value.suggested_filename
    assert Path(download.value.path()).read_bytes() == own.read_bytes()


def test_a_link_opens_the_details_that_it_leads_to(opened: Open, report: Path) -> None:
    page = opened(report)
    assert not page.locator("#variant-3").is_visible()
    page.get_by_role("link", name="sampling-fixed").click()
    assert page.locator("#variant-3").is_visible()
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details:not([open])").count() == 0
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details[open]").count() == 0


def test_nothing_is_wider_than_the_screen_in_light_or_dark(opened: Open, either: Path) -> None:
    page = opened(either)
    page.get_by_role("button", name="Open all").click()
    papers = set()
    for viewport in (DESK, PHONE):
        page.set_viewport_size(viewport)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert not too_wide(page)
            papers.add((scheme, page.evaluate("getComputedStyle(document.documentElement).backgroundColor")))
    assert papers == {("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")}


@pytest.mark.parametrize(("viewport", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_axe_finds_nothing_serious(opened: Open, either: Path, viewport: dict[str, int], scheme: str) -> None:
    page = opened(either, viewport, color_scheme=scheme)
    page.locator("summary").first.click()
    assert violations(page) == []


def test_axe_would_find_what_cannot_be_read(opened: Open, edge_report: Any) -> None:
    page = opened(edge_report("nothing")[1] / "report.html")
    page.evaluate("document.querySelector('h1').style.color = '#eee'")
    assert [text.partition(":")[0] for text in violations(page)] == ["color-contrast"]


def test_paper_has_everything_but_what_only_works_on_a_screen(opened: Open, either: Path) -> None:
    page = opened(either)
    page.emulate_media(media="print")
    assert not page.get_by_label("Name contains").is_visible()
    assert not page.get_by_role("navigation").is_visible()
    assert page.locator("#variant-3").is_visible()
    assert page.locator("figure .wide").first.is_visible()


def test_without_scripts_all_is_there_to_read(opened: Open, report: Path) -> None:
    page = opened(report, java_script_enabled=False)
    assert page.locator("tr[data-verdict]").count() == 13
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    page.get_by_role("link", name="sampling-fixed").click()
    assert page.locator("#variant-3").is_visible()


# The pages that go wrong first


@pytest.mark.parametrize("name", PAGES)
def test_edge_pages_fit_a_phone_and_a_desk(opened: Open, edge_report: Any, name: str) -> None:
    page = opened(edge_report(name)[1] / "report.html", PHONE)
    assert not too_wide(page)
    page.set_viewport_size(DESK)
    assert not too_wide(page)
    assert page.evaluate("(t => t.scrollWidth <= t.clientWidth)(document.querySelector('.table'))")


@pytest.mark.parametrize("name", ["baseline-failed", "hostile"])
def test_edge_pages_suit_every_reader(opened: Open, edge_report: Any, name: str) -> None:
    page = opened(edge_report(name)[1] / "report.html", PHONE, color_scheme="dark")
    assert violations(page) == []


def test_markup_in_a_name_stays_text_and_cannot_run(opened: Open, edge_report: Any) -> None:
    page = opened(edge_report("hostile")[1] / "report.html")
    assert shown_variants(page)[0].startswith("<script>alert(1)</script>")
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    page.locator(".wide [aria-label^='<script>']").first.hover()
    assert page.locator("#tip").inner_text().startswith("<script>")
    assert page.locator("#tip *").count() == 0


def test_the_pages_policy_stops_what_escaping_would_have_missed(browser: Any, report: Path) -> None:
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(report.as_uri())
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML("beforeend", '<img src="http://evil.example/x" onerror="window.ran = 1">');
            const script = document.createElement("script");
            script.textContent = "window.ran = 2";
            document.body.append(script);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    assert sum("Content Security Policy" in text for text in refused) >= 2
    page.close()
