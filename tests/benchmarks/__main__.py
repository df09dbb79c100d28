"""``python -m tests.benchmarks [NAME ...]``: run benchmarks, print their tables, keep the numbers."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from tests.benchmarks.result import Result, read_all, write
from tests.benchmarks.table import as_markdown, as_text

ALL = ("sampler", "aggregation", "epoch", "loader", "cache", "partitions", "scale", "many", "planted")
ON_REQUEST = ("big",)
FOLDER, REFERENCE = Path("results/bench"), Path("results/reference")
IN_REFERENCE = ("planted",)  # says what a verdict is worth, so its outcome stands beside the reference results
STDOUT, RESULTS = Path("-"), "<!-- results -->"


def main() -> int:
    """Exit code 1 where a requirement is not met or a benchmark failed."""
    asked = _arguments()
    if asked.markdown is not None:
        return _markdown(asked.markdown, asked.folder)
    if asked.reference is not None:
        return _copy(asked.folder, asked.reference)
    names = asked.names or list(ALL)
    if len(names) == 1:
        return _run(names[0], asked)
    given = [f"--folder={asked.folder}", *(["--quick"] if asked.quick else [])]
    codes = []
    for name in names:  # each in a process of its own: threads, memory and compiled code of one do not disturb another
        codes.append(subprocess.run([sys.executable, "-m", "tests.benchmarks", name, *given], check=False).returncode)
        print(flush=True)
    return max(codes)


def _markdown(document: Path, folder: Path) -> int:
    kept = {result.name: result for result in read_all(folder)}
    text = as_markdown([kept[name] for name in (*ALL, *ON_REQUEST) if name in kept])
    if document == STDOUT:
        print(text)
        return 0
    before, mark, _ = document.read_text().partition(RESULTS)
    if not mark:
        raise SystemExit(f"{document} has no line {RESULTS}; add it where the results are to begin")
    document.write_text(f"{before}{mark}\n\n{text}")
    return 0


def _copy(folder: Path, reference: Path) -> int:
    reference.mkdir(parents=True, exist_ok=True)
    for name in IN_REFERENCE:
        kept = folder / f"{name}.json"
        if not kept.is_file():
            raise SystemExit(f"{kept} is not there; make it: python -m tests.benchmarks {name}")
        (reference / kept.name).write_text(kept.read_text() + "\n")
    return 0


def _run(name: str, asked: argparse.Namespace) -> int:
    result: Result = import_module(f"tests.benchmarks.{name}").run(asked)
    from harness.runs.environment import environment

    result.environment.update(environment())
    write(result, asked.folder)
    print(as_text(result), flush=True)
    return int(any(line.met is False for line in result.lines))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ALL)}; or {', '.join(ON_REQUEST)}")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: shows that it runs, not what it takes")
    parser.add_argument(
        "--markdown",
        nargs="?",
        type=Path,
        const=STDOUT,
        metavar="FILE",
        help=f"run nothing: print kept results as Markdown, or put them into FILE below its line {RESULTS}",
    )
    parser.add_argument(
        "--reference",
        nargs="?",
        type=Path,
        const=REFERENCE,
        metavar="FOLDER",
        help=f"run nothing: copy kept results of {', '.join(IN_REFERENCE)} to FOLDER (default: {REFERENCE})",
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where results are kept (default: %(default)s)")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - {*ALL, *ON_REQUEST})
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join((*ALL, *ON_REQUEST))}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
