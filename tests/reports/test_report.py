"""Every file of a report, on the pages that go wrong first: nothing measured, all failed, too much, hostile text."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import shutil
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from harness.plan.model import DatasetPlan
from harness.records.record import Stages
from harness.reports.answer import answer, control_line, headline, looks_line, question, sentence
from harness.reports.details import environment_facts, facts, failures, value_text
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import Figure
from harness.reports.figures.in_order import figures
from harness.reports.figures.trade_off import trade_off
from harness.reports.open_questions import HEADING, open_questions
from harness.reports.report import write_report
from harness.reports.table_forms import csv_table
from harness.reports.tables import speed_text
from harness.reports.where_time_goes import time_section
from harness.spec.dataset import Files
from harness.verdicts.diagnosis_model import Diagnosis, Gain, Saving
from harness.verdicts.model import (
    Control,
    Costs,
    FailedRun,
    MemoryUse,
    ReferenceSummary,
    SeedDifference,
    Speed,
    Verdicts,
)
from harness.verdicts.rule import NOT_RUN
from harness.verdicts.warnings import coarse_test_set

from .conftest import accuracy, comparison, failed_comparison, memory_use, speed
from .edge_pages import MISSING, NOISY, PAGES, UNTIMED
from .latex import pdflatex


@pytest.fixture(params=PAGES)
def report(request, edge_report) -> tuple[Verdicts, Path]:
    """Verdicts and the folder of their report."""
    return edge_report(request.param)


class _Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.unbalanced: list[str] = []
        self.feed(text.replace("<wbr>", ""))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img", "link", "hr", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        self.text += f" {data} "

    @property
    def words(self) -> str:
        """The text with its white space made single."""
        return " ".join(self.text.split())


def test_the_page_is_well_formed_and_says_every_variant_verdict_and_reason(report) -> None:
    verdicts, folder = report
    page = _Page((folder / "report.html").read_text())
    assert not page.unbalanced
    assert not page.open
    for c in verdicts.comparisons:
        if c.variant.isascii() and "<" not in c.variant:
            assert c.variant in page.text
        assert c.verdict in page.text
    assert answer(verdicts) in page.words


def test_the_page_loads_nothing_and_runs_its_own_script_only(report) -> None:
    _, folder = report
    text = (folder / "report.html").read_text()
    page = _Page(text)
    assert not {"iframe", "object", "embed", "img", "base", "image", "use"} & {t for t, _ in page.tags}
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert [attributes for t, attributes in page.tags if t == "script"] == [{}]
    assert script == resources.files("harness.reports").joinpath("templates/report.js").read_text()
    (policy,) = [a["content"] or "" for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{known}';" in policy
    assert [a["href"] for t, a in page.tags if t == "link"] == ["data:,"]
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "xlink:href", "data", "action", "srcset"):
            own = "data:text/csv;charset=utf-8;base64," if "download" in attributes else "#"
            own = "data:," if attributes.get("rel") == "icon" else own
            assert (attributes.get(name) or own).startswith(own)
    assert all(target.startswith("#") for target in re.findall(r"url\(\s*['\"]?([^)]*)", text))
    assert "@import" not in text


def test_ids_in_the_page_are_unique_and_links_lead_somewhere(report) -> None:
    _, folder = report
    tags = _Page((folder / "report.html").read_text()).tags
    ids = [a["id"] for _, a in tags if a.get("id")]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for t, a in tags if t == "a" and "download" not in a} <= set(ids)


def _tables(text: str) -> list[list[str]]:
    """Blocks of consecutive table lines."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return [block.splitlines() for block in blocks]


def test_markdown_tables_have_as_many_cells_in_each_row_and_a_row_a_variant(report) -> None:
    verdicts, folder = report
    text = (folder / "report.md").read_text()
    tables = _tables(text)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    if verdicts.comparisons:
        floor = verdicts.control.ratio is not None  # the control's own row
        assert len(tables[0]) == 2 + len(verdicts.references) + floor + len(verdicts.comparisons)
    assert not re.search(r"<[a-zA-Z/!]", re.sub(r"(`+).+?\1", "", text))


def test_the_time_to_the_references_accuracy_is_told(make_verdicts, make_plan, make_results, tmp_path) -> None:
    verdicts = make_verdicts()
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    line = "epoch 7.5 (620 ms), reference epoch 9 (900 ms); reached in 4 of 5 pairs, the others never (validation)"
    assert line in (tmp_path / "report.html").read_text()
    assert line in (tmp_path / "report.md").read_text().replace("\\", "")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text())))
    assert (rows[0]["epochs_to_reference"], rows[0]["reference_seconds_to_reference"]) == ("7.5", "0.9")


def test_where_the_time_goes_stands_in_every_form(make_verdicts, make_plan, make_results, tmp_path) -> None:
    verdicts = make_verdicts([comparison("cache-0.3")])
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    for name in ("report.html", "report.md", "report.tex"):
        text = (tmp_path / name).read_text().replace("\\", "").replace("allowbreak", "").replace("{}", "")
        for words in (
            "Where the time goes",
            "The bottleneck of baseline is the data side",
            "a background loader",
            "1.35",  # the cache's ceiling
            "1.21",  # and what it gave
            "1.45",  # as soon at the reference's accuracy
            "pays off after 23 of 30 epochs",
        ):
            assert words in text, (name, words)


def test_savings_that_are_not_clear_stand_in_brackets(make_verdicts, make_plan) -> None:
    saving = Saving(stage="fetch", seconds=-0.02, ci=(-0.05, 0.01), expected=True)
    clear = saving.model_copy(update={"ci": (-0.03, -0.01)})
    gain = Gain(variant="v", reference="baseline", savings=[saving, clear], same_batches=False, nodes_ratio=0.5)
    verdicts = make_verdicts(diagnosis=Diagnosis(gains=[gain]))
    section = time_section(verdicts, _by_name(figures(make_plan(verdicts), verdicts, {}))["stages"])
    assert section.savings.rows[0][1:3] == ["(−20 ms*)", "−20 ms*"]
    assert section.sentences == ["No timing run recorded its stages."]
    assert section.tables == [section.savings]


def test_csv_has_a_line_a_comparison_and_unrounded_numbers(report) -> None:
    verdicts, folder = report
    rows = list(csv.DictReader(io.StringIO((folder / "report.csv").read_text())))
    assert len(rows) == len(verdicts.comparisons) + 1
    assert rows[-1]["variant"] == "control"
    for row, c in zip(rows, verdicts.comparisons, strict=False):
        assert row["variant"].lstrip("'") == c.variant
        assert row["verdict"] == c.verdict
        assert (float(row["speedup"]) if row["speedup"] else None) == c.speed.ratio
        assert not row["reason"].startswith(("=", "+", "@"))


def test_latex_groups_balance_and_tables_have_equal_columns(report) -> None:
    _, folder = report
    text = (folder / "report.tex").read_text()
    bare = re.sub(r"\\[\\{}$&#%_]|%[^\n]*", " ", text)
    assert bare.count("{") == bare.count("}")
    for table in re.findall(r"\\begin\{longtable\}.*?\\end\{longtable\}", text, flags=re.DOTALL):
        rows = [line for line in table.splitlines() if line.endswith(r"\\") and not line.startswith("\\caption")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1


def test_figures_are_files_exactly_where_the_page_draws_them(report, make_plan) -> None:
    verdicts, folder = report
    markdown = (folder / "report.md").read_text()
    linked = set(re.findall(r"\]\((figures/[a-z_]+\.svg)\)", markdown))
    assert linked == {f"figures/{p.name}" for p in (folder / "figures").glob("*.svg")}
    assert len(linked) + markdown.count("Not drawn: no") == len(figures(make_plan(verdicts), verdicts, {}))
    assert {p.stem for p in (folder / "figures").glob("*.csv")} == {p.stem for p in (folder / "figures").glob("*.svg")}
    assert not list(folder.rglob(".*"))


def test_a_figure_gives_its_data_unrounded_beside_it_and_in_the_page(
    make_verdicts, make_plan, make_results, tmp_path
) -> None:
    verdicts = make_verdicts([comparison("=cache()"), comparison("b", speed=speed(1.0 / 3.0))])
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    text = (tmp_path / "figures" / "speed_accuracy.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["variant"] for row in rows] == ["'=cache()", "b"]
    assert float(rows[1]["speedup"]) == 1.0 / 3.0
    links = [a for t, a in _Page((tmp_path / "report.html").read_text()).tags if t == "a" and "download" in a]
    files = {a["download"]: base64.b64decode((a["href"] or "").partition(",")[2]).decode() for a in links}
    assert files == {path.name: path.read_text() for path in (tmp_path / "figures").glob("*.csv")}


def test_rows_of_a_figure_are_as_long_as_its_headings() -> None:
    with pytest.raises(ValueError, match="1 cells under 2 headings"):
        FigureData(("a", "b"), [("x",)])


def test_marks_say_their_values_and_decoration_is_silent(make_verdicts, make_plan) -> None:
    verdicts = make_verdicts([comparison("a<b"), comparison("c")])
    drawn = _by_name(figures(make_plan(verdicts), verdicts, {}))
    trade_off, stages, memory = (drawn[name] for name in ("speed_accuracy", "stages", "memory"))
    for figure, said, marks in (
        (trade_off, "a&lt;b (accept): change of accuracy, pp: −0.06 [−0.31, +0.19]; speed-up: 1.21 [1.15, 1.27]", 2),
        (
            stages,
            "c: sample 26.4 ms, 32 % of 82.6 ms",
            18,
        ),  # four stages of three bars, a tick and a ring in each variant's bar and two ticks in the baseline's
        (memory, "baseline (ref.): 100 MB measured", 6),
    ):
        assert f"<title>{said}</title>" in figure.wide
        assert f'aria-label="{said}"' in figure.narrow
        assert figure.wide.count("<title>") == marks


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(report, tmp_path) -> None:
    _, folder = report
    shutil.copy(folder / "report.tex", tmp_path)
    done = pdflatex(tmp_path, "report.tex")
    assert done.returncode == 0, done.stdout[-2000:]


# One fact each


def _by_name(drawn: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in drawn}


def _missing(drawn: list[Figure]) -> dict[str, str]:
    return {f.name: f.missing for f in drawn if not f.wide}


def test_a_figure_without_data_says_why(make_verdicts, make_plan) -> None:
    verdicts = make_verdicts([comparison("cache-0.3", "inconclusive", **UNTIMED)])
    assert _missing(figures(make_plan(verdicts), verdicts, {})) == {
        "speed_accuracy": "Not drawn: no variant has both its accuracy and its speed-up measured.",
        "stages": "Not drawn: no timing run recorded its stages.",
        "memory": "Not drawn: no timing run recorded its peak memory.",
        "cache_hits": "Not drawn: no variant that ran has a feature cache.",
        "partitions": "Not drawn: no variant that ran has a partitioned graph.",
        "learning": "Not drawn: no variant and its reference kept their validation curves.",
        "training": "Not drawn: no quality run kept its curves.",
        "batch": "Not drawn: no batch to show: the baseline's job kept no batch.",
        "degrees": "Not drawn: no run counted the degrees of its batches' nodes.",
    }


def test_figures_name_their_variants_and_both_limits(make_verdicts, make_plan) -> None:
    verdicts = make_verdicts()
    drawn = _by_name(figures(make_plan(verdicts), verdicts, {}))
    trade_off, stages, memory = (drawn[name] for name in ("speed_accuracy", "stages", "memory"))
    for name in ("cache-0.3", "fanout-10-5", "cluster-random"):
        assert f">{name}</text>" in trade_off.wide
    assert ">−0.5 pp</text>" in trade_off.wide
    assert ">1.05×</text>" in trade_off.wide
    bars = re.findall(r">([^<>]+)</text>", stages.wide)
    assert bars.index("baseline (ref.)") < bars.index("cache-0.3") < bars.index("fanout-10-5")
    assert "32" in bars  # the sampling share of the fixture, per cent
    assert "The tick on a variant's bar is its ceiling" in stages.caption
    assert "The ticks on the baseline's bar are the ceilings" in stages.caption
    said = "no less than 74 ms without fetch, so at most 1.35 times as fast as baseline"
    assert f"<title>a feature cache: {said}</title>" in stages.wide
    unbounded = [
        c.model_copy(update={"costs": c.costs.model_copy(update={"ceiling": None})}) for c in verdicts.comparisons
    ]
    changed = verdicts.model_copy(update={"comparisons": unbounded})
    without = _by_name(figures(make_plan(verdicts), changed, {}))["stages"]
    assert without.wide.count("<path") < stages.wide.count("<path")
    assert "tick on a variant" not in without.caption
    assert ">measured</text>" in memory.wide
    assert ">estimated</text>" in memory.wide


def test_the_control_s_cells_say_on_a_phone_that_they_are_ratios(edge_report) -> None:
    page = _Page((edge_report("each")[1] / "report.html").read_text())
    labels = [a["data-label"] for tag, a in page.tags if tag == "td" and "data-label" in a]
    at = labels.index("mean")
    assert labels[at : at + 5] == ["mean", "time", "peak memory", "verdict", "why"]
    at = labels.index("times as fast as itself [CI]")
    assert labels[at - 1 : at + 4] == [
        *("change", "times as fast as itself [CI]", "memory, ratio to itself", "verdict", "why")
    ]


def test_what_is_crowded_near_the_limits_is_drawn_once_more_and_named(make_verdicts) -> None:
    """Exact variants beside one that is nine points off and one that is half as fast."""
    close = [comparison(f"exact-{i}", speed=speed(1.0 + 0.04 * i), accuracy=accuracy(0.0)) for i in range(4)]
    far = [
        comparison("lossy", "reject", speed=speed(2.0), accuracy=accuracy(-9.0)),
        comparison("slow", "no-gain", speed=speed(0.4), accuracy=accuracy(0.0)),
    ]
    whole, near = trade_off(make_verdicts([*far, *close]))
    assert "too close to others for a name" in whole.caption
    assert [row[0] for row in near.data.rows] == [c.variant for c in close]
    assert all(f">{c.variant}</text>" in near.wide for c in close)
    assert "the 4 variants that lose at most 2 pp and are at least 0.8 times as fast" in near.caption
    assert len(trade_off(make_verdicts(far))) == len(trade_off(make_verdicts(close))) == 1


def test_points_without_a_name_are_counted_in_both_drawings(make_verdicts) -> None:
    def figure(count: int) -> tuple[str, list[int]]:
        many = [
            comparison(f"a-rather-long-name-{i}", speed=speed(1.2 + 0.02 * i), accuracy=accuracy(0.05 * i))
            for i in range(count)
        ]
        drawn, *_ = trade_off(make_verdicts(many))
        texts = [re.findall(r">([^<>]+)</text>", svg) for svg in (drawn.wide, drawn.narrow)]
        return drawn.caption, [count - sum(text.startswith("a-rat") for text in told) for told in texts]

    seen = set()
    for count in range(1, 9):
        caption, (wide, narrow) = figure(count)
        seen.add((bool(wide), bool(narrow)))
        assert ("too close" in caption) == bool(wide or narrow)
        if wide:
            assert f" {wide} point{' stands' if wide == 1 else 's stand'} too close to others for a name" in caption
            assert (f"a name, in the drawing for narrow screens {narrow};" in caption) == (narrow != wide)
        elif narrow:
            assert f" In the drawing for narrow screens {narrow} point" in caption
    assert {(False, False), (False, True), (True, True)} <= seen


def test_of_very_many_variants_the_figures_show_the_first_verdicts_and_say_so(make_verdicts, make_plan) -> None:
    many = [comparison(f"v{i:03d}", "reject" if i % 2 else "accept", speed=speed(1 + i / 1000)) for i in range(240)]
    verdicts = make_verdicts(many)
    trade_off, stages, *_ = figures(make_plan(verdicts), verdicts, {})
    assert trade_off.caption.endswith("Of 240 variants 180 are not drawn; the tables have all.")
    drawn = set(re.findall(r">(v\d{3})</text>", stages.wide))
    assert drawn == {c.variant for c in many if c.verdict == "accept" and c.variant >= "v120"}


def test_equal_means_differ_by_nothing_in_the_csv(make_verdicts) -> None:
    residue = accuracy().model_copy(update={"delta_pp": 2.000000165480742e-10, "ci_pp": (-1e-11, 0.25 + 1e-12)})
    (row, _) = csv.DictReader(io.StringIO(csv_table([make_verdicts([comparison("a", accuracy=residue)])])))
    assert [row[f"delta_{name}"] for name in ("pp", "lower_pp", "upper_pp")] == ["0.0", "0.0", "0.25"]


def test_a_ratio_that_is_hardly_known_is_told_as_the_reason_tells_it(make_verdicts) -> None:
    wide = Speed(ratio=1.3149, ci=(0.034, 50.577), blocks=2, state="unknown")
    gate = make_verdicts([]).gate
    assert speed_text(comparison("a", speed=wide), gate) == "1.31 [0.03, 50.58]"
    wide = wide.model_copy(update={"ci": (0.0004, 4000.0)})
    assert speed_text(comparison("a", speed=wide), gate, most=2) == "1.31 [0.0004, 4000.00]"


def test_counters_are_printed_in_four_digits_inside_lists_too() -> None:
    assert value_text([5.363888888888889, 2.0, {"b": 1 / 3}]) == '[5.364, 2.0, {"b": 0.3333}]'
    assert value_text([5, "x", None]) == '[5, "x", null]'


def test_source_files_are_called_by_the_names_of_spec_and_file(make_verdicts, make_plan) -> None:
    files = Files(source="files", edges="data/edges.csv", features="x.npy", labels="y.csv")
    verdicts = make_verdicts(spec="papers")
    plan = make_plan(verdicts, dataset=DatasetPlan(dataset=files, dataset_id="d", spec_dir="specs"))
    assert "on papers (edges.csv) on cpu" in question(plan, verdicts)


def test_a_figure_of_an_earlier_report_does_not_outlive_its_data(
    tmp_path, make_verdicts, make_plan, make_results
) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "stages.svg").write_text("<svg/>")
    verdicts = make_verdicts([comparison("cache-0.3", "inconclusive", **UNTIMED)])
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    assert not (tmp_path / "figures" / "stages.svg").exists()


def test_stages_that_took_no_time_divide_by_nothing(make_verdicts, make_plan) -> None:
    nought = Stages(sample_s=0.0, fetch_s=0.0, compute_s=0.0, update_s=0.0)
    costs = Costs(reference_stages=nought, variant_stages=nought)
    verdicts = make_verdicts([comparison("cache-0.3", costs=costs, memory=memory_use(1.0))])
    assert list(_missing(figures(make_plan(verdicts), verdicts, {}))) == [
        "cache_hits",
        "partitions",
        "learning",
        "training",
        "batch",
        "degrees",
    ]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "each",
            "2 of 6 variants are worth having alone: cache-0.3 (1.21 times as fast [1.15, 1.27], accuracy −0.06 pp "
            "[−0.31, +0.19], peak memory −2.0 % [−2.9, −1.0]) and checkpoint (peak memory −27.5 % [−28.1, −27.0], "
            "0.81 times as fast [0.79, 0.83], accuracy unchanged (identical predictions)), each with a drop of "
            "accuracy shown to be at most 0.5 pp",
        ),
        ("none-accepted", "None of 1 variant is shown to be worth having: 1 no-gain."),
        ("all-failed", "None of 2 variants is shown to be worth having: none trained to the end."),
        ("baseline-failed", "baseline, with which they are compared, did not train to the end."),
        ("noisy", "the machine is too noisy to measure a gain (1 inconclusive)."),
        ("no-timing", "no control was timed to its end (1 inconclusive)."),
        ("enables", "checkpoint can train where the reference cannot (1 enables)."),
        ("nothing", "Nothing was compared: every variant was skipped."),
    ],
)
def test_the_answer_is_one_sentence(page: str, expected: str, make_verdicts) -> None:
    make, changes = PAGES[page]
    assert expected in answer(make_verdicts(make(), **changes))


@pytest.mark.parametrize(
    ("control", "why"),
    [(NOISY, "since the machine is too noisy"), (MISSING, "since no control was timed to its end")],
)
def test_noise_is_blamed_for_no_more_than_it_leaves_undecided(control: Control, why: str, make_verdicts) -> None:
    decided = [comparison(name, "no-gain") for name in ("a", "b")]
    one = make_verdicts([comparison("cache-0.3", "inconclusive"), *decided], control=control)
    assert answer(one) == (
        f"None of 3 variants is shown to be worth having: 1 of 3 stays undecided {why} (1 inconclusive, 2 no-gain)."
    )
    two = make_verdicts([*(comparison(name, "inconclusive") for name in ("c", "d")), *decided], control=control)
    assert f"2 of 4 stay undecided {why} (" in answer(two)


def test_an_open_question_is_one_line_with_all_its_variants(make_verdicts) -> None:
    undecided = [
        comparison(f"fanout-{i}", "inconclusive", accuracy=accuracy(-0.32, 0.55, "inconclusive", 15)) for i in (1, 2)
    ]
    failing = comparison("random", "inconclusive", accuracy=accuracy(-0.8, 0.55, "inconclusive", 14))
    spent = comparison("last", "inconclusive", n_pairs=20, accuracy=accuracy(-0.3, 0.4, "inconclusive", 30, n=20))
    never = comparison("line", "inconclusive", accuracy=accuracy(-0.5, 0.2, "inconclusive", None))
    slow = [comparison(name, "inconclusive", speed=speed(1.1, 0.1, "unknown")) for name in "ab"]
    untimed = comparison("c", "inconclusive", **UNTIMED)
    few = comparison("d", "inconclusive", n_pairs=2, accuracy=accuracy(n=2).model_copy(update={"state": "invalid"}))
    decided = comparison("e", "reject", accuracy=accuracy(-2.0, 0.3, "fail"), speed=speed(1.1, 0.1, "unknown"))
    unlike = comparison("f", "inconclusive", reason="other data: fp-1 and fp-2")
    all_of_them = [*undecided, failing, spent, never, *slow, untimed, few, decided, unlike]
    assert open_questions(make_verdicts(all_of_them)) == [
        "Accuracy undecided: fanout-1, fanout-2 (about 15 more seeds); random (about 14 more seeds to show the "
        "failure); last (about 30 more seeds, beyond the last look: a new spec with fresh seeds); line (more seeds "
        "would hardly decide it: over 200, or on the limit).",
        "Speed undecided: a, b (interval straddles 1.05).",
        "Speed not measured: c.",
        "Accuracy not judged: d (2 complete pairs of the 5 that the first look needs).",
        "Not decided: f (other data: fp-1 and fp-2).",
    ]


def test_an_undecided_accuracy_hides_nothing_else_that_is_open(make_verdicts) -> None:
    undecided = accuracy(-0.32, 0.55, "inconclusive", 15)
    unlike = comparison("a", "inconclusive", accuracy=undecided, not_comparable="not comparable: torch of `a` is 2.12")
    disturbed = speed().model_copy(update={"disturbed_blocks": 2, "disturbed_by": ["load"]})
    beside = comparison("b", "inconclusive", accuracy=undecided, speed=disturbed)
    reason = "timing is not complete: the reference failed while it was timed: oom"
    cut = comparison("c", "inconclusive", accuracy=undecided, reason=reason)
    assert open_questions(make_verdicts([unlike, beside, cut])) == [
        "Not decided: a (not comparable: torch of `a` is 2.12).",
        "Speed undecided: b (a gain, but disturbed while timed); c (a gain, but its timing is not complete).",
        "Accuracy undecided: b, c (about 15 more seeds).",
    ]


def test_noise_is_told_by_the_control_and_not_again_below(make_verdicts) -> None:
    waiting = comparison(
        "a",
        "inconclusive",
        speed=speed(1.21, 0.05),
        reason="the machine is too noisy: the control's interval [0.85, 1.22] is wider than the gain of 1.21",
    )
    verdicts = make_verdicts([waiting], control=NOISY, warnings=["still climbing", NOISY.reason])
    assert control_line(verdicts) == (
        "Control: noisy; the baseline against itself: 1.02 [0.85, 1.22] over 2 blocks: "
        "only gains above 1.44 can be accepted, with a lower bound above 1.05."
    )
    assert open_questions(verdicts) == [
        "Still climbing.",
        "Speed undecided: a (a gain, but the control leaves no room for it).",
    ]
    assert control_line(make_verdicts(control=MISSING)).endswith("so no gain can be told from noise.")
    off = NOISY.model_copy(update={"ratio": 1.1, "ci": (1.04, 1.16)})
    assert control_line(make_verdicts(control=off)).endswith(
        "[1.04, 1.16] over 2 blocks, off 1.00: no gain can be accepted."
    )


def test_what_the_resolution_says_is_not_warned_about_again(make_verdicts) -> None:
    verdicts = make_verdicts([])
    coarse = coarse_test_set(verdicts.gate, verdicts.test_set)
    assert coarse is not None
    assert open_questions(make_verdicts([], warnings=[coarse, "another"])) == ["Another."]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("training.patience (20) is not below training.epochs", "training.patience (20) is not below training.epochs."),
        ("cache-0.3: exact is claimed", "cache-0.3: exact is claimed."),
        ("baseline: no effect", "baseline: no effect."),
        ("every variant is skipped", "Every variant is skipped."),
    ],
)
def test_a_sentence_begins_with_a_capital_but_a_path_or_a_name_stays_as_it_is(text: str, said: str) -> None:
    assert sentence(text) == said


def test_a_variant_that_is_called_by_a_word_keeps_its_small_letter(make_verdicts) -> None:
    names = {"smaller"}
    assert sentence("smaller is left out beside cache", names=names) == "smaller is left out beside cache."
    assert sentence("smaller, disk: not kept", names=names) == "smaller, disk: not kept."
    assert sentence("it gives way to smaller", names=names) == "It gives way to smaller."
    verdicts = make_verdicts([comparison("smaller")], warnings=["smaller never settled", "raise training.epochs"])
    assert open_questions(verdicts) == ["smaller never settled.", "Raise training.epochs."]


def test_the_reference_stands_above_the_variants_in_every_table(
    tmp_path, make_verdicts, make_plan, make_results
) -> None:
    verdicts = make_verdicts()
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    page = _Page((tmp_path / "report.html").read_text()).words
    row = "baseline 63.12 % 100 ms an epoch 100 MB reference mean of 5 runs; median epoch and peak memory"
    assert row in page
    assert HEADING in page
    cells = [cell.strip() for cell in _tables((tmp_path / "report.md").read_text())[0][2].split("|")]
    assert " ".join(cells).replace("\\", "").strip() == row
    assert r"63.12 \%" in (tmp_path / "report.tex").read_text().replace(r"\allowbreak{}", "")


def test_failed_runs_are_told_once_and_equal_ones_together(make_verdicts, make_plan) -> None:
    runs = [
        FailedRun(arm="reference", purpose="quality", seed=s, run_id=f"b{s}", status="oom", message="no memory")
        for s in (1, 0)
    ]
    own = FailedRun(arm="variant", purpose="timing", run_id="t", status="timeout", message="over 60 s")
    verdicts = make_verdicts(
        [failed_comparison("a", failed=[*runs, own]), failed_comparison("b", failed=runs)],
        references=[ReferenceSummary(name="baseline", n=3, mean=0.6, sd_pp=0.1, failed=runs)],
    )
    assert [(f.variant, f.what, f.status, f.message) for f in failures(make_plan(verdicts), verdicts, {})] == [
        ("baseline", "quality, seeds 0, 1", "oom", "no memory"),
        ("a", "timing", "timeout", "over 60 s"),
    ]


def test_pairs_after_the_decision_are_shown_as_not_counted(tmp_path, make_verdicts, make_plan, make_results) -> None:
    extra = SeedDifference(seed=5, reference=0.63, variant=0.6, delta_pp=-3.0, counted=False)
    judged = accuracy()
    judged = judged.model_copy(update={"seeds": [*judged.seeds, extra]})
    verdicts = make_verdicts([comparison("cache-0.3", accuracy=judged)])
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    page = _Page((tmp_path / "report.html").read_text()).words
    assert "−3.00 no, after the decision" in page
    assert "−3.00 (not counted)" in (tmp_path / "report.md").read_text()


def test_the_page_says_resolution_fingerprint_counters_and_the_command(
    tmp_path, make_verdicts, make_plan, make_results
) -> None:
    verdicts = make_verdicts()
    plan = make_plan(verdicts, spec_path="elsewhere/my spec.yaml")
    write_report(plan, verdicts, *make_results(verdicts), tmp_path)
    page = _Page((tmp_path / "report.html").read_text()).words
    for said in (
        "0.5 pp = 13.8 of 2,754 test nodes",
        "data fingerprint fp-1234",
        "cache_hits 812,345",
        "torch 2.13.0",
        "snakemake --cores 2 --config 'spec=elsewhere/my spec.yaml'",
        "quality, seed 0 diverged loss is not finite in epoch 3, batch 7",
        "gat has no spmm form",
        "5, 10, 20 pairs",
    ):
        assert said in page


def test_a_leak_stands_in_the_details_whether_or_not_the_variant_was_timed(make_verdicts) -> None:
    leak = "memory grows by 12.0 MB an epoch"
    for memory in (memory_use(), MemoryUse(state="unknown")):
        plain = comparison("v", memory=memory)
        told = comparison("v", memory=memory.model_copy(update={"warnings": [leak]}))
        assert ("memory", leak) in facts(told, make_verdicts([told]))
        assert "memory" not in dict(facts(plain, make_verdicts([plain])))


def _read(folder: Path, form: str) -> str:
    """A report without the places where its lines may break."""
    return (folder / f"report.{form}").read_text().replace("\\allowbreak{}", "")


def test_exploratory_verdicts_are_marked_in_every_form(make_verdicts, make_plan, make_results, tmp_path) -> None:
    why = "its seeds were decided by looks 3, 6, not looks 5, 10, 20"
    marked = comparison("tuned", exploratory=True, exploratory_reason=why)
    made = make_verdicts([comparison("plain"), marked])
    assert answer(made).startswith("Turn on plain: 1.21 times as fast")
    write_report(make_plan(made), made, *make_results(made), tmp_path)
    page, text, latex, table = (_read(tmp_path, form) for form in ("html", "md", "tex", "csv"))
    assert '<span class="chip accept exploratory">accept (exploratory)</span>' in page
    for form in (page, text, latex):
        assert why in form
        assert "accept (exploratory)" in form
        assert "Exploratory, so never recommended: tuned" in form
    assert [row["exploratory"] for row in csv.DictReader(table.splitlines())][:2] == ["False", "True"]


def test_the_look_and_its_level_are_told(make_verdicts, make_plan, make_results, tmp_path) -> None:
    late = comparison("late", accuracy=accuracy(n=10))
    made = make_verdicts([comparison("early"), late])
    assert looks_line(made) == (
        f"Accuracy stands at look 1 of 3 (5 pairs): early; look 2 of 3 (10 pairs): late. "
        f"Alpha {made.alpha_per_look:.4f} a look."
    )
    write_report(make_plan(made), made, *make_results(made), tmp_path)
    for form in ("html", "md", "tex"):
        assert looks_line(made) in _read(tmp_path, form)
    assert "look 2 of 3 (10 pairs), alpha 0.0206: pass" in _read(tmp_path, "md")


def test_thousands_of_pairs_are_left_to_the_file(
    edge_report, make_plan, make_results, tmp_path: Path, monkeypatch
) -> None:
    verdicts, folder = edge_report("each")
    assert '<table class="pairs">' in (folder / "report.html").read_text()
    monkeypatch.setattr("harness.reports.page._MOST_PAIRS", 1)
    write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path)
    short = (tmp_path / "report.html").read_text()
    assert '<table class="pairs">' not in short
    assert "Too many pairs for a page: verdicts.json has them" in short


ON_PAPER_AND_ON_DARK = {"none", "#000000", "#0a66a8", "#5f6a73", "#8fc7ec", "#e69f00"}  # black: numbers inside bars


def test_every_ink_of_a_figure_is_seen_on_a_dark_page(report: tuple[Verdicts, Path]) -> None:
    text = (report[1] / "report.html").read_text()
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    inks = {
        f'[{kind}="{ink}"]'
        for kind, ink in re.findall(r' (fill|stroke)="([^"]+)"', drawn)
        if ink not in ON_PAPER_AND_ON_DARK
    }
    dark = text[text.index("prefers-color-scheme: dark") : text.index("box-sizing")]
    assert {ink for ink in inks if ink not in dark} == set()


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (["2026-11-28T23:59:00.000+00:00", "2026-11-29T00:10:00.000+00:00"], "2026-11-28 to 2026-11-29 (UTC)"),
        (["2026-11-28T09:00:00.000+00:00", "2026-11-28T10:00:00.000+00:00"], "2026-11-28 (UTC)"),
        ([], None),
    ],
)
def test_the_days_of_the_measurement_stand_with_the_machine(edge_report, measured, said) -> None:
    verdicts = edge_report("each")[0].model_copy(update={"measured": measured})
    assert dict(environment_facts(verdicts, {})).get("measured") == said


def test_what_a_grid_did_not_come_to_has_not_failed(make_verdicts, make_plan, make_results, tmp_path) -> None:
    """A folder of a grid that was stopped: neither a failure, nor all well."""
    waiting = comparison(
        "a", "inconclusive", reason=NOT_RUN, n_pairs=0, accuracy=None, time_to_reference=None, **UNTIMED
    )
    verdicts = make_verdicts([waiting, comparison("b", "no-gain")], recommended=[])
    variants, timings = make_results(verdicts)
    write_report(make_plan(verdicts), verdicts, {k: v for k, v in variants.items() if k != "a"}, timings, tmp_path)
    document = (tmp_path / "report.md").read_text()
    assert "- Not run yet: a." in document
    assert re.search(r"\| a +\| all of it +\| missing +\| not run yet: there are no results of it", document)
    alone = make_verdicts([waiting], recommended=[])
    assert headline(alone) == "None of 1 variant is shown to be worth having: none has been run yet."
