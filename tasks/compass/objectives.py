"""What a task makes as small or as large as it can, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .dice import Dice
from .features import Feature
from .fundamental import COSTS, SCOPES, Part
from .slots import WISHES


@dataclass(frozen=True, slots=True)
class Goal:
    """`sense` is minimize or maximize, `text` the expression; `short` is for titles, `say` for conversations."""

    sense: str
    text: str
    short: str
    say: str


_METRICS = {
    "score": (
        "maximize", "hotel.review_score", "best reviewed hotel",
        ("The review score of the hotel should be as high as possible.",
         "Among all that fit, the hotel with the highest review score is the best."),
    ),
    "reviews": (
        "maximize", "hotel.review_count", "most reviewed hotel",
        ("The hotel should have as many reviews as possible.",
         "Among all that fit, the hotel with the largest number of reviews is the best."),
    ),
    "distance": (
        "minimize", "hotel.distance", "hotel closest to the park",
        ("The hotel should be as close to the park as possible, in kilometres.",
         "Among all that fit, the hotel with the shortest distance to the park is the best."),
    ),
    "drive": (
        "minimize", "drive_minutes(flight.destination, hotel.park)", "shortest drive from the airport",
        ("The drive from the airport to the park should take as few minutes as possible.",
         "Among all that fit, the shortest drive from the airport to the park is the best."),
    ),
}  # fmt: skip
_PRICE = {
    1: ("The total price of the hotel should be as low as possible.",
        "Among all that fit, the hotel booking with the lowest total price is the best."),
    2: ("Hotel and flights together should cost as little as possible.",
        "Among all that fit, the lowest total cost of hotel and flights is the best."),
    3: ("Hotel, flights and permit together should cost as little as possible.",
        "Among all that fit, the lowest total cost of hotel, flights and permit is the best."),
}  # fmt: skip
_WISHES = (
    "As many as possible of these {n} wishes should be met, each of them counts the same: {it}.",
    "There are {n} wishes of equal weight, and the more of them are met the better: {it}.",
)


def goal(objective: str, level: int, wishes: Sequence[Feature], dice: Dice) -> Goal:
    """The objective of a task, which for a feature count counts the wishes."""
    if objective == WISHES:
        text = f"count({', '.join(wish.require for wish in wishes)})"
        say = dice.pick(_WISHES, "say goal").format(n=len(wishes), it="; ".join(wish.it for wish in wishes))
        return Goal("maximize", text, f"most of {len(wishes)} wishes", say)
    if objective == "price":
        short = "cheapest stay" if level == 1 else f"cheapest {SCOPES[level]}"
        return Goal("minimize", COSTS[level], short, dice.pick(_PRICE[level], "say goal"))
    sense, text, short, says = _METRICS[objective]
    return Goal(sense, text, short, dice.pick(says, "say goal"))


def guard(objective: str, dice: Dice) -> Part | None:
    """The constraint, told at the start, that makes the objective known in every plan; None where it always is."""
    if objective == "score":
        least = dice.pick(("6.5", "7.0", "7.5"), "least score")
        says = (
            "The hotel must have a review score of {it} or better.",
            "No hotel with a review score below {it} or none.",
        )
        require = f"hotel.review_score >= {least}"
        return Part("least_score", ("review score",), require, dice.pick(says, "say guard").format(it=least))
    if objective == "drive":
        most = dice.pick((180, 210, 240, 300), "most drive")
        says = (
            "The drive from the airport to the park may take at most {it} minutes.",
            "More than {it} minutes from the airport to the park is out of the question.",
        )
        require = f"drive_minutes(flight.destination, hotel.park) <= {most}"
        return Part("longest_drive", ("drive time",), require, dice.pick(says, "say guard").format(it=most))
    return None
