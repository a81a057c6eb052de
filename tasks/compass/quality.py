"""What is in a suite, and what was turned away on the way to it: counts, as JSON and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .building import Built
from .slots import WISHES

_NAMES = {
    "price": "lowest price",
    "score": "review score",
    "reviews": "review count",
    "distance": "distance to the park",
    "drive": "drive from the airport",
    WISHES: "number of wishes met",
}
_TABLES = {
    "rejected": "Turned away, because",
    "levels": "Level",
    "constraints": "Constraints",
    "told later": "Told later",
    "wishes": "Wishes",
    "dates": "Form of the dates",
    "kinds": "Kind of constraint",
}


def quality(built: Sequence[Built], seed: int, data: str) -> dict[str, Any]:
    """The counts over all tasks of a suite. Shares are in permille."""
    slots = [item.slot for item in built]
    facts = [item.facts for item in built]
    rejected: Counter[str] = Counter()
    for item in built:
        rejected.update(item.rejected)
    return {
        "seed": seed,
        "dataset": data,
        "tasks": len(built),
        "candidates": len(built) + rejected.total(),
        "rejected": dict(sorted(rejected.items(), key=lambda pair: (-pair[1], pair[0]))),
        "levels": _counts(slot.level for slot in slots),
        "objectives": {
            name: _counts(slot.level for slot in slots if slot.objective == objective)
            for objective, name in _NAMES.items()
        },
        "constraints": _counts(slot.constraints for slot in slots),
        "told later": _counts(item.later for item in built),
        "wishes": _counts(slot.wishes for slot in slots if slot.objective == WISHES),
        "dates": _counts(slot.form for slot in slots),
        "kinds": _counts(
            kind for item in built for kind in dict.fromkeys(item.kinds) if not kind.startswith("dates: ")
        ),
        "plans": _spread([item.plans for item in facts]),
        "values": _spread([item.values for item in facts]),
        "best plans": _spread([item.tied for item in facts]),
        "permille of plans that are best": _spread([1000 * item.tied // max(1, item.plans) for item in facts]),
    }


def _counts(items: Iterable[int | str]) -> dict[str, int]:
    """How often each occurs, in their order."""
    counted = Counter(items)
    return {str(item): counted[item] for item in sorted(counted, key=lambda item: (isinstance(item, str), item))}


def _spread(numbers: Sequence[int]) -> dict[str, int]:
    """Least, median (the lower one) and greatest."""
    ordered = sorted(numbers)
    return {"least": ordered[0], "median": ordered[(len(ordered) - 1) // 2], "most": ordered[-1]}


def page(found: Mapping[str, Any]) -> str:
    """The counts as Markdown."""
    made = f"{found['tasks']:,} tasks from {found['candidates']:,} candidates"
    proved = "Every task is certified by all engines, and every claim proved by the checker."
    lines = ["# Quality of the suite", "", f"{made}, seed {found['seed']}, over {found['dataset']}. {proved}"]
    for key, title in _TABLES.items():
        lines += ["", f"| {title} | number |", "|---|---:|", *(f"| {name} | {n:,} |" for name, n in found[key].items())]
    levels = list(found["levels"])
    lines += [
        "",
        f"| Objective | {' | '.join(f'level {level}' for level in levels)} |",
        "|---|" + "---:|" * len(levels),
    ]
    for name, counts in found["objectives"].items():
        lines.append(f"| {name} | {' | '.join(str(counts.get(level, 0)) for level in levels)} |")
    lines += ["", "| Of each task | least | median | most |", "|---|---:|---:|---:|"]
    for key in ("plans", "values", "best plans", "permille of plans that are best"):
        spread = found[key]
        lines.append(f"| {key} | {spread['least']:,} | {spread['median']:,} | {spread['most']:,} |")
    return "\n".join(lines) + "\n"
