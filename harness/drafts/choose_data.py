"""Direction, split and transform: what the dataset section of a first spec says beside where the graph comes from."""

from __future__ import annotations

from typing import Any

from harness.drafts.look import SHARES, Looked
from harness.drafts.parts import Entry
from harness.verdicts.wording import plural

SMALL_CLASS = 30  # labelled nodes; a class below that may miss a part of a random split
MANY_COLUMNS = 1_000


def data_entries(section: dict[str, Any], seen: Looked, directed: bool) -> list[Entry]:
    """The entries of the section, in order.

    Args:
        section: where the graph comes from, of `harness.drafts.target`; perhaps with a split of its own.
        seen: the data set.
        directed: a person says that messages shall go from source to target alone.
    """
    found = [Entry(key, value) for key, value in section.items() if key not in ("undirected", "split", "transform")]
    found += _direction(section, seen, directed)
    found.append(Entry("split", *_split(section, seen)))
    return found + _transform(section, seen)


def _direction(section: dict[str, Any], seen: Looked, directed: bool) -> list[Entry]:
    if directed or seen.one_way:
        return []
    wanted = section.get("undirected") or section["source"] == "files" or seen.both_ways < 1.0
    if not wanted:
        return []
    share = f"{100 * seen.both_ways:.0f} % of the edges have their reverse in the data"
    why = f"messages go both ways: {share}, the others get it. Leave it out if the direction means something."
    if seen.both_ways == 1.0:
        why = "every edge has its reverse in the data already; a pair that is given twice then counts once"
    return [Entry("undirected", True, why)]


def _split(section: dict[str, Any], seen: Looked) -> tuple[dict[str, Any], str]:
    if "split" in section:
        return section["split"], "your own: train, val, test"
    if seen.own_splits > 1:
        return {"kind": "public", "index": 0}, f"of the {seen.own_splits} splits that come with the data, the first"
    if seen.own_splits:
        return {"kind": "public"}, "the split that comes with the data, so that figures can be compared"
    if seen.smallest_class < SMALL_CLASS and seen.stratifies:
        why = f"the smallest class has {plural(seen.smallest_class, 'labelled node')}: each class is cut by itself"
        return {"kind": "stratified", **SHARES}, why
    return {"kind": "random", **SHARES}, "no split comes with the data; of all labelled nodes, 60 % train and 20 % test"


def _transform(section: dict[str, Any], seen: Looked) -> list[Entry]:
    steps: dict[str, Any] = dict(section.get("transform", {}))
    whys = ["there are no features: these columns are made from the edges"] if steps else []
    if seen.missing:
        steps["missing"] = "mean"
        whys.append("some features are missing: they get their column's mean over the training nodes")
    if seen.uneven:
        steps["scale"] = "standard"
        whys.append("the columns differ in scale, or are far from 1")
    found = [Entry("transform", steps, "; ".join(whys))] if steps else []
    if seen.features > MANY_COLUMNS:
        why = (
            f"{seen.features:,} columns are most of what a step reads: fewer make everything cheaper, at some accuracy"
        )
        found.append(Entry("transform", {**steps, "pca": 256}, why, offered=True))
    return found
