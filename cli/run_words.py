"""What the words of a page about conversations mean."""

from __future__ import annotations

from collections.abc import Sequence

from ..report.page import Grid, Section

FEW = 10  # fewer tasks have intervals that are too narrow
ROUNDED = (
    "Exploration and reasoning regret add up to the gap exactly in each conversation. Shown means are each rounded for "
    "themselves, so that their sum may differ in the last digit."
)
_WORDS = (
    ("FR", "The share of conversations whose final plan satisfies every constraint; also solve or acceptable rate."),
    ("OR-A", "The share whose plan is feasible, with fewer than A % of feasible plans better; equals share a rank."),
    ("final plan", "The last formal recommendation; at level 1 the best of up to three. Without any, not feasible."),
    ("gap", "The distance of a feasible plan's value to the certified optimum, over the optimum's absolute value."),
    ("E", "Effort: different calls of tools in a conversation that were answered without a fault."),
    ("Y", "Yield: different bookable offers that the results of these calls showed."),
    ("t*", "The turn of the conversation at which the user has told everything."),
    ("Δt", "How many turns after t* the last formal recommendation came; negative when before."),
    ("CV", "Coefficient of variation: population standard deviation of OR-5 over the styles of users, over the mean."),
    ("intervals", "95 %, clustered by task: Wilson's with an effective number for shares, the sandwich for means."),
    ("exact", "Counts, gaps and regrets are exact; means are shown rounded. --out-tables writes all of them in full."),
)  # fmt: skip


def reading() -> Section:
    """How to read the page."""
    return Section("How to read this", grid=Grid(("", ""), _WORDS), folded=True)


def few_tasks(tasks: int) -> str:
    """A warning where there are so few tasks that intervals cannot be relied on; else nothing."""
    if tasks >= FEW:
        return ""
    return f" With fewer than {FEW} tasks the 95 % intervals are too narrow: take them as hints."


def listed(names: Sequence[str]) -> str:
    """Names as one reads them out."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
