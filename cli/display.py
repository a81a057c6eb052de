"""What people read on a terminal: certificates, verdicts and datasets as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..schemas.canonical import narrow
from ..schemas.certificate import Certificate, ConflictsClaim, CorrectionClaim, Grade, Move, distribution_pairs
from ..schemas.expression import Compare, Literal
from ..schemas.plan import Pick, Plan
from ..schemas.units import Type, format_decimal, format_value
from ..solver.rank import in_top
from .common import console
from .tables import show

if TYPE_CHECKING:
    from rich.console import Console

    from ..datasets.opening import Dataset
    from ..schemas.problem import Problem
    from ..schemas.verdict import Verdict
    from ..solver.certify import Survivors
    from ..verification import Verification

_COLOURS = {Grade.PROVED: "green", Grade.AGREED: "cyan", Grade.CLAIMED: "yellow"}
_SHOWN = 12  # conflicts and corrections on a terminal; the certificate has them all
_MEANINGS = {0: "as expected", 1: "not as expected", 2: "invalid", 3: "undecided", 4: "refuted by the checker"}


def print_verification(title: str, result: Verification, written: Path | None) -> None:
    """One task at length: claims with grades, rows surviving each constraint, where the certificate is."""
    out = console()
    certificate = result.certificate
    out.print(Text.assemble((certificate.task.id, "bold"), f"  {title}"))
    out.print()
    show(out, _claims(certificate, result.problem))
    out.print()
    if certificate.claims.conflicts is not None:
        print_conflicts(out, certificate.claims.conflicts, result.problem)
    show(out, _engines(result))
    out.print()
    if result.survivors:
        show(out, survivors_table(result.survivors))
        out.print()
    for finding in result.refuted:
        out.print(Text(f"refuted by the checker: {finding.claim}: {finding.detail}", style="bold red"))
    for finding in result.report.findings:
        if finding.state == "not recomputed":
            out.print(f"not recomputed: {finding.claim}: {finding.detail}")
    if result.surprise:
        out.print(Text(f"not as expected: {result.surprise}", style="bold yellow"))
    if result.undecided:
        out.print(Text(f"undecided: {result.undecided}", style="bold yellow"))
    spent = ", ".join(f"{step} {seconds:.2f} s" for step, seconds in result.seconds.items())
    out.print(f"certificate  {written or 'not written'}  ({spent})")


def _claims(certificate: Certificate, problem: Problem) -> Table:
    """A row per claim: what is claimed, and its grade."""
    claims, kind = certificate.claims, problem.objective.type
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))

    def say(name: str, value: str, grade: Grade | None = None) -> None:
        table.add_row(name, value, Text(grade.value, style=_COLOURS[grade]) if grade else "")

    reason = f" ({claims.status.reason})" if claims.status.reason else ""
    say("status", claims.status.value + reason, claims.status.grade)
    best = claims.optimum or claims.incumbent
    if claims.optimum is not None:
        optimum = claims.optimum
        next_best = f"; next best {_value(optimum.runner_up, kind)}" if optimum.runner_up is not None else ""
        tied = "1 plan reaches it" if optimum.tied == 1 else f"{narrow(optimum.tied):,} plans reach it"
        say("optimum", f"{_value(optimum.value, kind)} ({tied}{next_best})", optimum.grade)
    if claims.incumbent is not None:
        incumbent = claims.incumbent
        bound = "no plan is better" if incumbent.optimal else f"none is better than {_value(incumbent.bound, kind)}"
        say(
            "optimum" if incumbent.optimal else "best found",
            f"{_value(incumbent.value, kind)} ({bound})",
            incumbent.grade,
        )
    for choice, picks in best.plan.picks.items() if best else ():
        say(f"  {choice}", picked_text(picks[0]) if picks else "nothing")
        for pick in picks[1:]:
            say("", picked_text(pick))
    if claims.count is not None:
        low, high = narrow(claims.count.at_least), narrow(claims.count.at_most)
        say("plans", f"{low:,}" if low == high else f"between {low:,} and {high:,}", claims.count.grade)
    if claims.distribution is not None:
        pairs = distribution_pairs(claims.distribution)
        span = f", {_value(pairs[0][0], kind)} to {_value(pairs[-1][0], kind)}" if pairs else ""
        say("distribution", f"{len(pairs):,} values{span}", claims.distribution.grade)
    return table


def picked_text(pick: Pick) -> str:
    """An offer, on a route with its times: `Sarah  14:45 to 16:30`."""
    return pick.id if pick.start is None and pick.end is None else f"{pick.id}  {pick.start} to {pick.end}"


def plan_text(plan: Plan) -> str:
    """A plan in one line: `hotel h1, meals a b c`."""
    shown = ((choice, " ".join(pick.id for pick in picks)) for choice, picks in plan.picks.items())
    return ", ".join(f"{choice} {ids or 'nothing'}" for choice, ids in shown)


def print_conflicts(out: Console, claim: ConflictsClaim, problem: Problem, notes: Sequence[str] = ()) -> None:
    """What would make the task possible, a note before each if there are any, and what cannot hold together."""
    from ..solver.questions.sensitivity import is_threshold

    width = max(map(len, notes), default=-2) + 2
    out.print("No plan exists. Any one of these makes it possible:" if claim.corrections else "No plan exists.")
    for number, correction in enumerate(claim.corrections[:_SHOWN]):
        note = (notes[number] if notes else "").ljust(width)
        plan = plan_text(correction.plan)
        out.print(Text.assemble("  ", note, (correction_text(correction, problem), "bold"), f"  ({plan})"))
    if len(claim.corrections) > _SHOWN:
        out.print(f"  … and {len(claim.corrections) - _SHOWN} more in the certificate")
    if not problem.sets and sum(is_threshold(item) for item in problem.constraints) > 1 and claim.corrections:
        out.print("A way out moves at most one threshold; moving two at once is not looked for.")
    if claim.conflicts:
        out.print("Each of these sets of constraints cannot hold together:")
    for names in claim.conflicts[:_SHOWN]:
        out.print(f"  {', '.join(names)}" if names else "  none at all: there are no offers, whatever is required")
    if len(claim.conflicts) > _SHOWN:
        out.print(f"  … and {len(claim.conflicts) - _SHOWN} more in the certificate")
    if not claim.complete:
        out.print("  … and perhaps others: a limit ended the search")
    out.print()


def correction_text(correction: CorrectionClaim, problem: Problem) -> str:
    """What a correction does: `drop pool and view; raise budget by $112.40`."""
    *most, last = correction.drop or ("",)
    dropped = [f"drop {', '.join(most)} and {last}" if most else f"drop {last}"] if correction.drop else []
    return "; ".join(dropped if correction.move is None else [*dropped, _moved(correction.move, problem)])


def _moved(move: Move, problem: Problem) -> str:
    """`raise budget by $112.40`."""
    (constraint,) = (item for item in problem.constraints if item.name == move.constraint)
    condition = constraint.condition
    if not isinstance(condition, Compare):
        return f"move {move.constraint} by {move.amount}"
    amount = format_value(narrow(move.amount), replace(condition.left.type, nullable=False))
    upper = condition.op in ("<", "<=")
    if isinstance(condition.right, Literal):
        return f"{'raise' if upper else 'lower'} {move.constraint} by {amount}"
    if isinstance(condition.left, Literal):
        return f"{'lower' if upper else 'raise'} {move.constraint} by {amount}"
    return f"loosen {move.constraint} by {amount}"


def _engines(result: Verification) -> Table:
    """A row per engine: what it answered about the optimum, and what that cost."""
    table = Table(box=box.SIMPLE, pad_edge=True)
    for name in ("engine", "answer", "value", "seconds", "memory"):
        table.add_column(name, justify="right" if name in ("value", "seconds", "memory") else "left")
    kind = result.problem.objective.type
    for entry, answer in zip(result.certificate.evidence, result.answers, strict=True):
        said = entry.status + (f" ({entry.reason})" if entry.reason else "")
        value = _value(entry.value, kind) if entry.value is not None else ""
        memory = f"{answer.memory} MB" if answer.memory else ""
        table.add_row(entry.engine, said, value, f"{answer.seconds:.2f}", memory)
    refuted = (
        "refuted"
        if result.refuted
        else "recomputed"
        if result.certificate.claims.headline() == Grade.PROVED
        else "in part"
    )
    table.add_row("checker", refuted, "", f"{result.seconds['check']:.2f}", "")
    return table


def survivors_table(survivors: tuple[Survivors, ...]) -> Table:
    """A row per constraint, two columns per choice: rows that pass it alone, and rows that pass all so far."""
    table = Table(box=box.SIMPLE, title="rows of each choice that pass: alone / with those above", title_justify="left")
    table.add_column("constraint")
    for item in survivors:
        table.add_column(item.choice, justify="right")
    table.add_row("table", *(f"{item.table:,}" for item in survivors))
    table.add_row("offers", *(f"{item.offers:,}" for item in survivors))
    for name in survivors[0].alone:
        cells = [
            "·" if item.alone[name] == item.offers else f"{item.alone[name]:,} / {item.together[name]:,}"
            for item in survivors
        ]
        table.add_row(name, *cells)
    table.add_row(
        "left", *(f"{list(item.together.values())[-1] if item.together else item.offers:,}" for item in survivors)
    )
    return table


def print_line(result: Verification) -> None:
    """One task in one line, among many."""
    certificate = result.certificate
    claims, kind = certificate.claims, result.problem.objective.type
    mark = {0: ("ok", "green"), 1: ("!!", "yellow"), 3: ("??", "yellow"), 4: ("XX", "red")}[result.exit_code]
    text = Text.assemble(mark, f"  {certificate.task.id:36} {claims.status.value:10} ")
    if claims.optimum is not None and claims.count is not None:
        text.append(f"{_value(claims.optimum.value, kind):>14} {narrow(claims.count.at_least):>12,} plans  ")
    else:
        text.append(" " * 34)
    headline = claims.headline()
    text.append(headline.value, style=_COLOURS[headline])
    if result.note:
        text.append(f"  {result.note}", style="yellow")
    console().print(text)


def print_summary(codes: list[int]) -> None:
    """How many tasks ended in which way."""
    found = Counter(codes)
    said = ", ".join(f"{found[code]} {_MEANINGS[code]}" for code in sorted(found))
    console().print(f"{len(codes)} tasks: {said}")


def print_verdict(verdict: Verdict, problem: Problem) -> None:
    """A verdict with everything that is known about it."""
    out = console()
    kind = problem.objective.type
    good = verdict.kind in ("optimal", "feasible", "correct refusal")
    out.print(Text(verdict.kind.value, style="bold green" if good else "bold red"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    if verdict.reason:
        table.add_row("reason", Text(verdict.reason))
    for violation in verdict.violations:
        table.add_row(Text(violation.constraint, style="red"), Text(violation.detail))
    if verdict.value is not None:
        table.add_row("value", _value(verdict.value, kind))
    if verdict.optimum is not None and verdict.gap is not None:
        table.add_row("optimum", _value(verdict.optimum, kind))
        share = f" ({percent(Fraction(verdict.relative_gap))})" if verdict.relative_gap is not None else ""
        table.add_row("gap", _value(verdict.gap, kind) + share)
    if verdict.standing is not None:
        better, tied, _, total = (
            narrow(getattr(verdict.standing, name)) for name in ("better", "tied", "worse", "total")
        )
        others = f", shared by {tied:,} plans" if tied > 1 else ""
        table.add_row("rank", f"{better + 1:,} of {total:,}{others}")
        table.add_row("better plans", f"{better:,} ({percent(Fraction(better, total))} of all feasible ones)")
        best = next((part for part in (1, 5, 10, 20, 50) if in_top(verdict.standing, part)), 100)
        table.add_row("among", f"the best {best} %")
    if table.row_count:
        show(out, table)


def percent(share: Fraction) -> str:
    """A share as a percentage with two digits, rounded up, so that only nothing is 0.00 %."""
    hundredths = -(-share * 10_000 // 1)
    return f"{format_decimal(int(hundredths), 100)} %"


def exact(number: Fraction) -> str:
    """A fraction as a decimal if it is one, else as `p/q`."""
    digits = next((digits for digits in range(41) if 10**digits % number.denominator == 0), None)
    if digits is None:
        return str(number)
    return format_decimal(int(number * 10**digits), 10**digits, grouped=True)


def _value(value: int | str, kind: Type) -> str:
    return format_value(narrow(value), kind)


def describe_dataset(dataset: Dataset) -> dict[str, Any]:
    """Parameters, tables, columns, relations, rows and digests of a dataset, as plain data."""
    manifest, world = dataset.manifest.manifest, dataset.manifest.sample()
    return {
        "name": manifest.name,
        "title": manifest.title,
        "license": manifest.license,
        "folder": str(dataset.folder),
        "manifest": dataset.manifest.digest(),
        "parameters": {
            name: spec.model_dump(mode="json", exclude_defaults=True) for name, spec in manifest.parameters.items()
        },
        "tables": {
            name: {
                "rows": dataset.table(world, name).rows,
                "id": manifest.tables[name].id,
                "digest": dataset.table(world, name).digest,
                "columns": {column: str(field.type) + _detail(field.type) for column, field in table.fields.items()},
            }
            for name, table in world.tables.items()
        },
        "relations": {
            name: {
                "rows": dataset.relation(world, name).rows,
                "digest": dataset.relation(world, name).digest,
                "args": list(relation.args),
                "value": relation.value,
            }
            for name, relation in world.relations.items()
        },
    }


def _detail(kind: Type) -> str:
    words = f": {', '.join(kind.values)}" if kind.values else ""
    return words + (", may be unknown" if kind.nullable else "")


def print_dataset(found: dict[str, Any]) -> None:
    """A dataset for people: first what can be chosen, then the other tables, then relations."""
    out = console()
    out.print(Text.assemble((found["name"], "bold"), f"  {found['title']}"))
    out.print(f"{found['folder']}  {found['manifest']}  {found['license']}")
    for name, spec in found["parameters"].items():
        out.print(f"given {name}: {', '.join(f'{key} {value}' for key, value in spec.items())}")
    for name, table in sorted(found["tables"].items(), key=lambda item: item[1]["id"] is None):
        out.print()
        role = f"offers {table['id']}" if table["id"] else "table"
        out.print(Text.assemble((name, "bold"), f"  {role}  {table['rows']:,} rows  {table['digest'][:19]}…"))
        columns = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        for column, kind in table["columns"].items():
            columns.add_row(column, Text(kind))
        show(out, columns)
    out.print()
    for name, relation in found["relations"].items():
        what = f"a number ({relation['value']})" if relation["value"] else "true or false"
        out.print(f"relation {name}({', '.join(relation['args'])}): {what}, {relation['rows']:,} rows")
