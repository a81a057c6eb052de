"""`cobench diff`: what changed between two certificates, or two folders of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .common import console, print_json

if TYPE_CHECKING:
    from ..schemas.certificate import ObjectiveFacts
    from ..solver.questions.changes import Amounts, Change, Flip

_PATH = click.Path(path_type=Path)
_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


@click.command()
@click.argument("old", type=_PATH)
@click.argument("new", type=_PATH)
@click.option(
    "--verdicts",
    type=(_PATH, _PATH),
    metavar="OLD NEW",
    help="Verdicts on the same submissions before and after, one `score --json` a line: say which flip.",
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per task, and per submission that flips.")
def diff(old: Path, new: Path, verdicts: tuple[Path, Path] | None, as_json: bool) -> int:
    """Say which tasks changed their status, optimum, count, top-5 % cut or conflicts after an edit of task or data.

    OLD and NEW are certificates, folders of them, or files with a certificate on each line. Exit code 1 when a claim
    changed, a task came or went, or a verdict flips; 0 otherwise.

    \b
    cobench diff certificates-before certificates
    cobench diff before after --verdicts before.jsonl after.jsonl
    """
    from ..agent_runner.matching import require_coherent
    from ..schemas.collection import read_certificates, read_verdicts
    from ..schemas.plain import as_data
    from ..solver.questions.changes import changes, flips

    before, after = read_certificates(old), read_certificates(new)
    for path, certificates in ((old, before), (new, after)):
        for certificate in certificates.values():
            require_coherent(certificate, str(path))
    found = changes(before, after)
    flipped = flips(*map(read_verdicts, verdicts)) if verdicts is not None else []
    if as_json:
        for item in (*found, *flipped):
            print_json(as_data(item))
    else:
        _print(found, flipped, len({*before, *after}), verdicts is not None)
    return 1 if flipped or any(change.claims or change.kind != "changed" for change in found) else 0


def _print(found: Sequence[Change], flipped: Sequence[Flip], tasks: int, scored: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from .tables import show

    out = console()
    for change in found:
        mark, colour = _MARKS[change.kind]
        what = ", ".join(change.claims) if change.claims else change.kind if change.kind != "changed" else "no claim"
        why = f"  (other {', '.join(change.inputs)})" if change.inputs else ""
        out.print(Text.assemble((f"{mark} {change.task}", colour), f"  {what}{why}"))
        lines = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        for name, before, after in _lines(change.old, change.new):
            lines.add_row(name, before, "→", after)
        if lines.row_count:
            show(out, lines)
    kinds = Counter(change.kind if change.claims or change.kind != "changed" else "other inputs" for change in found)
    said = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())) or "nothing changed"
    out.print(f"{tasks} task{'s' if tasks != 1 else ''}: {said}")
    for flip in flipped:
        text = f"  submission {flip.number}: {', '.join(flip.what)}  ({flip.old.kind.value} → {flip.new.kind.value})"
        out.print(Text.assemble((flip.task, "bold"), text))
    if scored:
        out.print(f"{len(flipped)} verdict{'s' if len(flipped) != 1 else ''} flipped")


def _lines(old: Amounts | None, new: Amounts | None) -> list[tuple[str, str, str]]:
    """What differs in numbers: name, before, after."""
    before, after = _shown(old), _shown(new)
    return [(name, before[name], after[name]) for name in before if before[name] != after[name]]


def _shown(amounts: Amounts | None) -> dict[str, str]:
    if amounts is None:
        return dict.fromkeys(("status", "optimum", "plans", "top 5 %"), "–")
    low, high = amounts.count or (None, None)
    plans = "unknown" if low is None else f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return {
        "status": amounts.status,
        "optimum": _value(amounts.optimum, amounts.objective),
        "plans": plans,
        "top 5 %": _value(amounts.cut, amounts.objective),
    }


def _value(value: int | None, objective: ObjectiveFacts) -> str:
    from ..schemas.units import Type, format_value

    return "–" if value is None else format_value(value, Type("number", objective.unit, objective.scale))
