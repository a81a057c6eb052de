"""Audits on a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..schemas.canonical import wide
from ..schemas.units import format_value
from .common import console
from .display import percent
from .tables import show

if TYPE_CHECKING:
    from ..solver.questions.audit import Audit, ConstraintFacts, Naive
    from ..solver.questions.findings import Finding

_STYLES = {"warning": "bold yellow", "note": "cyan"}


def print_audit(title: str, audit: Audit, findings: Sequence[Finding]) -> None:
    """One audit at length: findings first, then the facts behind them."""
    out = console()
    out.print(Text.assemble((audit.problem.id, "bold"), f"  {title}"))
    out.print()
    for name, value in _head(audit):
        out.print(f"  {name:14} {value}", highlight=False)
    out.print()
    for finding in findings:
        _print(finding)
    if findings:
        out.print()
    show(out, _constraints(audit))
    if len(audit.steps) > 1:
        show(out, _steps(audit))
    if audit.wishes:
        show(out, _wishes(audit))
    if audit.strategies:
        show(out, _strategies(audit))


def print_findings(audit: Audit, findings: Sequence[Finding]) -> None:
    """One task among many: its findings alone."""
    if findings:
        console().print(Text(audit.problem.id, style="bold"))
    for finding in findings:
        _print(finding)


def _print(finding: Finding) -> None:
    console().print(Text.assemble("  ", (f"{finding.severity:8}", _STYLES[finding.severity]), finding.sentence))
    console().print(Text(f"          hint: {finding.hint}", style="dim"))


def print_suite(audited: Sequence[tuple[Audit, Sequence[Finding]]]) -> None:
    """A row per task, and how many have warnings."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("task", "plans", "best", "next", "within 5 %", "naive gap", "warnings"):
        table.add_column(name, justify="left" if name in ("task", "warnings") else "right", no_wrap=name == "task")
    for audit, findings in audited:
        kinds = ", ".join(dict.fromkeys(item.kind for item in findings if item.severity == "warning"))
        near = dict(audit.near).get(5)
        table.add_row(
            audit.problem.id,
            _plans(audit),
            audit.status if audit.optimum is None else f"{audit.tied:,}",
            _runner_up(audit),
            "" if near is None else f"{near:,}",
            _closest(audit),
            Text(kinds, style=_STYLES["warning"]),
        )
    show(console(), table)
    warned = sum(any(item.severity == "warning" for item in findings) for _, findings in audited)
    console().print(f"{len(audited)} tasks audited, {warned} with warnings")


def _plans(audit: Audit) -> str:
    low, high = audit.plans
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _runner_up(audit: Audit) -> str:
    """The runner-up's distance from the optimum, as a share where there is one."""
    if audit.optimum is None or audit.runner_up is None:
        return ""
    share = _share(abs(audit.runner_up - audit.optimum), audit.optimum)
    return f"+{share}" if share else _value(abs(audit.runner_up - audit.optimum), audit)


def _closest(audit: Audit) -> str:
    """The smallest gap of a naive plan to the optimum."""
    from ..solver.questions.findings import shortcuts

    gaps = [item.gap for item in shortcuts(audit) if item.gap is not None]
    if audit.optimum is None or not shortcuts(audit):
        return ""
    if not gaps:
        return "none feasible"
    return f"{_share(min(gaps), audit.optimum) or _value(min(gaps), audit)}"


def _share(part: int, whole: int) -> str:
    return percent(Fraction(part, abs(whole))) if whole else ""


def _value(value: int | None, audit: Audit) -> str:
    return format_value(value, audit.problem.objective.type)


def _head(audit: Audit) -> list[tuple[str, str]]:
    rows = [("status", audit.status), ("plans", _plans(audit))]
    if audit.optimum is not None and audit.tied is not None:
        tied = "1 plan reaches it" if audit.tied == 1 else f"{audit.tied:,} plans reach it"
        rows.append(("optimum", f"{_value(audit.optimum, audit)} ({tied})"))
        if audit.runner_up is not None:
            distance = abs(audit.runner_up - audit.optimum)
            share = _share(distance, audit.optimum)
            away = f"{_value(distance, audit)}{f', {share},' if share else ''} away"
            rows.append(("next best", f"{_value(audit.runner_up, audit)} ({away})"))
    if audit.near:
        rows.append(("near optimum", "; ".join(f"within {part} %: {number:,}" for part, number in audit.near)))
    return rows


def _constraints(audit: Audit) -> Table:
    title = (
        "what each constraint removes: combinations of offers alone, plans when all others hold; and the rows it passes"
    )
    table = _table(title, ("constraint",), ("alone", "at the margin", "optimum without it"), ("implied by",))
    for item in audit.survivors:
        table.add_column(f"{item.choice} rows: {item.offers:,}", justify="right")
    for facts in audit.constraints:
        best = _value(facts.optimum_without, audit) if facts.optimum_without is not None else ""
        numbers = (_number(facts.alone), _number(facts.margin), best, _implied(facts))
        rows = [(item.alone[facts.name], item.offers) for item in audit.survivors]
        table.add_row(facts.name, *numbers, *("·" if passed == every else f"{passed:,}" for passed, every in rows))
    return table


def _implied(facts: ConstraintFacts) -> str:
    if not facts.redundant:
        return "unknown" if facts.redundant is None and facts.margin is None else ""
    if facts.implied_by is None:
        return "the others"
    return ", ".join(facts.implied_by) or "nothing: always true"


def _steps(audit: Audit) -> Table:
    table = _table("after each reveal", ("revealed",), ("plans", "optimum", "reached by"), ())
    for number, step in enumerate(audit.steps):
        told = step.revealed[0] if number else f"start ({len(step.revealed)} constraints)"
        best = _value(step.optimum, audit) if step.optimum is not None else ""
        table.add_row(told, _number(step.plans), best, f"{step.tied:,}" if step.tied is not None else "")
    return table


def _wishes(audit: Audit) -> Table:
    table = _table("wishes", ("wish",), ("met by",), ())
    for wish in audit.wishes:
        table.add_row(Text(wish.text), f"{_number(wish.met_by)} plans")
    return table


def _strategies(audit: Audit) -> Table:
    table = _table("without any search", ("strategy",), ("value", "gap", "rank"), ("result",))
    for item in audit.strategies:
        value = _value(item.value, audit) if item.value is not None else ""
        gap = _value(item.gap, audit) if item.gap is not None else ""
        table.add_row(item.strategy, value, gap, f"{item.rank:,}" if item.rank is not None else "", _result(item))
    return table


def _result(item: Naive) -> str:
    if item.stuck is not None:
        return f"stuck: no {item.stuck} fits"
    return f"breaks {', '.join(item.broken)}" if item.broken else "feasible"


def _table(title: str, left: Sequence[str], right: Sequence[str], after: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE, title=title, title_justify="left", pad_edge=True)
    for name in left:
        table.add_column(name)
    for name in right:
        table.add_column(name, justify="right")
    for name in after:
        table.add_column(name)
    return table


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def as_data(path: Path, audit: Audit, findings: Sequence[Finding]) -> dict[str, Any]:
    """What `--json` says of one task; null is unknown, or not there."""
    objective = audit.problem.objective
    lists = ("constraints", "steps", "wishes", "strategies", "survivors")
    facts = ("status", "optimum", "tied", "runner_up", "duplicates", "clashing", "idle")
    return {
        "task": str(path),
        "id": audit.problem.id,
        "objective": {
            "sense": "maximize" if objective.maximize else "minimize",
            "unit": objective.type.unit,
            "scale": objective.type.scale,
        },
        "plans": {"at_least": wide(audit.plans[0]), "at_most": wide(audit.plans[1])},
        **{name: _plain(getattr(audit, name)) for name in facts},
        **{name: [_plain(asdict(item)) for item in getattr(audit, name)] for name in lists},
        "near": [{"percent": part, "plans": wide(number)} for part, number in audit.near],
        "unknown": sorted({fact for fact in audit.open_facts if fact}),
        "findings": [_plain(asdict(finding)) for finding in findings],
    }


def _plain(value: Any) -> Any:
    """The value with integers as JSON may hold them."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return wide(value) if isinstance(value, int) and not isinstance(value, bool) else value
