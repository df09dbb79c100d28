"""Rebuild harness/graphs/builtin/wordnet30.npz from WordNet 3.0's dict files.

    python scripts/build_wordnet.py --dict /usr/share/wordnet --out harness/graphs/builtin/wordnet30.npz

The dict files are those of https://wordnet.princeton.edu, or of Debian's package wordnet-base. The recipe:

- nodes: the synsets of data.noun, data.verb, data.adj and data.adv, in this order and in the files' order;
- y: the lexicographer file of the synset, numbered as in lexnames(5WN);
- edges: every pointer of a synset, semantic or lexical, as one undirected edge between two different synsets,
  stored once, with the smaller number first (CSR `indptr`, `indices`);
- x: words of the definition (the gloss up to the first example), lower case, runs of two letters a-z or more; of those
  that are no stop words the 1,024 in most definitions (ties: whichever occurs first) are the vocabulary,
  and a synset has those of its definition (binary, CSR `x_indptr`, `x_indices`, `x_shape`).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILES = {"n": "data.noun", "v": "data.verb", "a": "data.adj", "r": "data.adv"}
VOCABULARY = 1024
STOP_WORDS = """
of the or in to and that an with by for as is from on having who used one not at which be especially into
being usually are its it can has than was very etc
"""
LEXNAMES = """
adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition
noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object
noun.person noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape
noun.state noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition
verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession
verb.social verb.stative verb.weather adj.ppl
"""


@dataclass(frozen=True)
class Synset:
    """One line of a data file, wndb(5WN)."""

    part_of_speech: str
    offset: int
    lexname: int
    pointers: tuple[tuple[str, int], ...]  # part of speech and offset of the synset pointed at
    definition: str


def read_synsets(folder: Path) -> list[Synset]:
    """All synsets of the four data files, in order."""
    found = []
    for part_of_speech, name in FILES.items():
        with (folder / name).open(encoding="latin-1") as file:
            found.extend(_parse(line, part_of_speech) for line in file if not line.startswith("  "))
    return found


def _parse(line: str, part_of_speech: str) -> Synset:
    head, _, gloss = line.partition(" | ")
    fields = head.split()
    first = 4 + 2 * int(fields[3], 16)  # behind the words, whose number is hexadecimal
    count = int(fields[first])
    targets = [fields[first + 1 + 4 * i : first + 5 + 4 * i] for i in range(count)]
    return Synset(
        part_of_speech,
        int(fields[0]),
        int(fields[1]),
        tuple(("a" if target[2] == "s" else target[2], int(target[1])) for target in targets),  # s: satellite adjective
        gloss.strip().split('; "')[0],
    )


def edges(synsets: list[Synset]) -> tuple[np.ndarray, np.ndarray]:
    """CSR of the undirected edges, each once under its smaller end: indptr ``[n + 1]`` and indices, int32."""
    number = {(s.part_of_speech, s.offset): i for i, s in enumerate(synsets)}
    pairs = {(min(i, j), max(i, j)) for i, s in enumerate(synsets) for j in (number[p] for p in s.pointers) if i != j}
    ordered = np.array(sorted(pairs), dtype=np.int32)
    return _pointer(ordered[:, 0], len(synsets)), ordered[:, 1].copy()


def words(synsets: list[Synset]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The vocabulary, and CSR of the words of each synset: indptr ``[n + 1]`` int32, indices uint16."""
    found = [list(dict.fromkeys(re.findall("[a-z]{2,}", s.definition.lower()))) for s in synsets]
    counts = Counter(word for own in found for word in own)
    for word in STOP_WORDS.split():
        del counts[word]
    vocabulary = [word for word, _ in counts.most_common(VOCABULARY)]
    number = {word: k for k, word in enumerate(vocabulary)}
    rows = [sorted(number[word] for word in own if word in number) for own in found]
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return vocabulary, _pointer(owner, len(rows)), np.array([k for row in rows for k in row], dtype=np.uint16)


def _pointer(owner: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows))]).astype(np.int32)


def build(folder: Path) -> dict[str, np.ndarray]:
    """All arrays of wordnet30.npz."""
    synsets = read_synsets(folder)
    indptr, indices = edges(synsets)
    vocabulary, x_indptr, x_indices = words(synsets)
    return {
        "indptr": indptr,
        "indices": indices,
        "x_indptr": x_indptr,
        "x_indices": x_indices,
        "x_shape": np.array([len(synsets), VOCABULARY], dtype=np.int64),
        "y": np.array([s.lexname for s in synsets], dtype=np.int8),
        "class_names": np.array(LEXNAMES.split()),
        "vocab": np.array(vocabulary),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dict", type=Path, default=Path("/usr/share/wordnet"), help="folder with data.noun, …")
    parser.add_argument("--out", type=Path, default=Path("harness/graphs/builtin/wordnet30.npz"))
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    missing = [name for name in FILES.values() if not (arguments.dict / name).is_file()]
    if missing:
        raise SystemExit(f"{arguments.dict} lacks {', '.join(missing)}: install wordnet-base, or give --dict")
    arrays = build(arguments.dict)
    np.savez_compressed(arguments.out, **arrays)
    print(f"{arguments.out}: {len(arrays['y']):,} synsets, {2 * len(arrays['indices']):,} directed edges")


if __name__ == "__main__":
    main()
