"""Who asks, and why: the beginning of a conversation, the same for every kind of simulated user."""

from __future__ import annotations

from .dice import Dice

_WHO = {
    1: ("I am travelling alone.", "I am going on this trip by myself."),
    2: ("We are a couple.", "We are 2 old friends.", "We are a mother and her grown-up daughter."),
}
_GROUPS = ("We are a family of {n}.", "We are {n} friends.", "We are {n} colleagues.", "We are {n} retired teachers.")
_WHY = (
    "{We} want to see a national park this summer.",
    "{We} have wanted to walk under big trees and big skies for years.",
    "After a busy spring {we} want a few days in nature.",
    "{We} want to take photographs of wild country.",
    "There is a birthday to celebrate, and {we} want to do it near a national park.",
    "{We} saw a film about national parks and want to visit one.",
    "{We} have some days off in August and want to spend them outdoors.",
    "{We} want to see the stars away from the city.",
)
_NEED = {
    1: "{We} need a hotel for {guests}.",
    2: "{We} need a hotel and round-trip flights for {guests}.",
    3: "{We} need a hotel, round-trip flights and a permit for {guests}.",
}


def story(guests: int, level: int, dice: Dice) -> str:
    """Who, why, and what is to be booked for how many."""
    we = "I" if guests == 1 else "we"
    parts = (dice.pick(_WHO.get(guests, _GROUPS), "who"), dice.pick(_WHY, "why"), _NEED[level])
    counted = "1 guest" if guests == 1 else f"{guests} guests"
    return " ".join(parts).format(n=guests, we=we, We=we[:1].upper() + we[1:], guests=counted)
