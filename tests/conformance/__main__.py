"""`python -m tests.conformance`: the public operator suite, natively and in Chromium."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from export.inspection.examine import NATIVE
from export.inspection.shipped import WEB, raw_page
from server.process import running_server
from tests.conformance.judge import LIMIT, Open, Result, judge
from tests.conformance.runtimes import Web, native
from tests.conformance.suite import Case, all_cases

ROOT = Path(__file__).parents[2]
VERDICTS = {"passes": "passes", "refused": "refused before running", "fails": "fails aloud",
            "mismatch": "silent mismatch"}  # fmt: skip


def main() -> int:
    """Run, tell, and say by the exit code whether anything wrong would be published."""
    options = _options()
    console = Console()
    cases = [case for case in all_cases() if options.only in case.name]
    with _silent_runtime():
        results = {f"{NATIVE} cpu": run(cases, native, console, "native")}
    with raw_page(serving(options.web)) as page:
        where = f"{WEB} {page.version} wasm"
        results[where] = run(cases, Web(page), console, "wasm")
    tell(console, len(cases), results)
    if options.json:
        document = {place: [asdict(one) for one in found] for place, found in results.items()}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return 1 if published(results) else 0


def run(cases: Sequence[Case], open_case: Open, console: Console, name: str) -> list[Result]:
    """Every case in one runtime."""
    start = time.monotonic()
    shown = track(cases, name, console=console, disable=not console.is_terminal)
    found = [judge(case, open_case) for case in shown]
    console.print(f"{name}: {len(found):,} cases in {time.monotonic() - start:.0f} s")
    return found


def published(results: dict[str, list[Result]]) -> list[Result]:
    """Wrong answers that neither check nor verify would have stopped."""
    return [one for found in results.values() for one in found if one.published]


def tell(console: Console, count: int, results: dict[str, list[Result]]) -> None:
    """One table of counts, why what was refused was, and each silent mismatch."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", title=f"{count:,} cases")
    table.add_column("", no_wrap=True)
    for place in results:
        table.add_column(place, justify="right")
    for verdict, words in VERDICTS.items():
        table.add_row(words, *(str(_count(found, verdict)) for found in results.values()))
        if verdict in ("refused", "fails"):
            for code in sorted(
                {o.code for f in results.values() for o in f if o.verdict == verdict}
            ):
                row = [str(_count(found, verdict, code)) for found in results.values()]
                table.add_row(f"  {code}", *row, style="dim")
        if verdict == "mismatch":
            caught = [sum(bool(o.caught) for o in found) for found in results.values()]
            table.add_row("  caught by check or verify", *map(str, caught), style="dim")
    console.print(table)
    for line in mismatches(results):
        console.print(f"  {line}", soft_wrap=True, highlight=False, markup=False)
    console.print(
        f"Silent mismatches that Likewise would publish: {len(published(results))}"
        f"  (limit {LIMIT:g}, as the gallery's recipes have)", style="bold", highlight=False,
    )  # fmt: skip


def mismatches(results: dict[str, list[Result]]) -> list[str]:
    """One line for each silent mismatch; runtimes that say the same share it."""
    lines: dict[str, list[str]] = {}
    for place, found in results.items():
        for one in found:
            if one.verdict == "mismatch":
                line = f"{one.case}: {one.why}; {one.caught or 'NOT CAUGHT'}"
                lines.setdefault(line, []).append(place.split()[-1])
    return [f"{line} ({', '.join(places)})" for line, places in lines.items()]


def _count(found: Sequence[Result], verdict: str, code: str | None = None) -> int:
    return Counter((o.verdict, o.code if code is not None else None) for o in found)[verdict, code]  # type: ignore[index]


@contextlib.contextmanager
def serving(web: Path) -> Iterator[str]:
    """The built page by the real server."""
    with tempfile.TemporaryDirectory() as empty, running_server(Path(empty), web) as server:
        yield server.url


@contextlib.contextmanager
def _silent_runtime() -> Iterator[None]:
    """The native runtime writes what it raises to stderr too, past Python."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--json", type=Path, help="write every case's result to this file")
    parser.add_argument("--web", type=Path, default=ROOT / "web" / "dist", help="the built page")
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
