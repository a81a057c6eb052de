"""The words of a text reduced to what they are about, so that two ways of saying one thing can be compared.

There is no language model in here: a word stands for its group below, or else for its stem.
"""

from __future__ import annotations

import re
from functools import lru_cache

_GROUPS = """
money: $ budget spend spent spending cost costs costing price priced pay paid pays payable afford dollar dollars usd
money: bucks expensive cheap cheaper cheapest inexpensive money financial affordable ceiling cap saved
stay: hotel hotels house lodging lodge accommodation property properties
room: room rooms
sleep: sleep sleeps sleeping
date: date dates when schedule calendar weekend weekends weekday weekdays monday tuesday wednesday thursday friday
date: saturday sunday august july september timing period midweek
arrive: arrive arrives arriving arrival check-in
leave: leave leaves leaving departure check-out
night: night nights long length duration
park: park parks destination destinations location locations where
fly: flight flights fly flies flying plane planes airline airlines ticket tickets airfare
fare: fare fares booking-class economy basic business
origin: origin departing depart departs home start starts starting
airport: airport airports land landing
drive: drive drives driving car rental drive-time
distance: kilometre kilometres kilometer kilometers km mile miles distance far close nearby proximity
score: score scores scored rating ratings rated review reviews reviewed
star: star stars category
pet: pet pets dog dogs cat cats animal animals pet-friendly
wifi: wifi wi-fi internet wireless online
pool: pool pools swim swimming
meal: breakfast breakfasts meal meals half-board board food
kitchen: kitchen kitchenette cook cooking
cancel: cancel cancels cancelling canceling cancellation cancellations cancelled refund refunds refundable
prepay: advance prepay prepayment prepayments deposit upfront
parking: parking garage
bed: bed beds king queen twin twins bunk bunks
cool: air-conditioning air-conditioned conditioning conditioner aircon
laundry: laundry washer
access: accessible accessibility wheelchair step-free
outside: balcony terrace view views
gym: gym fitness
bar: bar bars
family: family-friendly families
charging: charging charger chargers ev electric
shuttle: shuttle shuttles transfer
spa: spa sauna wellness
bath: bath bathtub bathtubs tub
restaurant: restaurant restaurants
eco: eco sustainable sustainability leaf leaves-rating
direct: direct nonstop non-stop stopover stopovers layover layovers
bag: bag bags baggage luggage suitcase suitcases
permit: permit permits trail trails tour tours hike hikes backpacking guided
party: people person persons travellers travelers guests adults children kids family group
desk: desk workspace
"""
_BROAD = frozenset({"#stay", "#room", "#fly", "#park", "#sleep", "#party"})
# Words that say something about a trip wherever they stand: what a message must not be about before it is told, and of
# these the ones that it can be about only if some line is.
AMENITIES = frozenset(
    {
        *("#pet", "#wifi", "#pool", "#meal", "#kitchen", "#prepay", "#parking", "#bed", "#cool", "#laundry", "#access"),
        *("#gym", "#spa", "#bath", "#restaurant", "#eco", "#desk", "#bar", "#charging", "#shuttle"),
    }
)
TELLING = AMENITIES | {
    "#money",
    "#score",
    "#star",
    "#cancel",
    "#outside",
    "#direct",
    "#bag",
    "#drive",
    "#airport",
    "#permit",
}
# What a line is about without fail: there is no other way to say it.
SURE = AMENITIES | {"#direct", "#bag", "#cancel", "#star"}
# Words of which a group has several that do not mean the same.
KINDS = frozenset(
    {
        *("king", "queen", "twin", "bunk", "balcony", "view", "breakfast", "board"),
        *("economy", "basic", "business", "suite", "studio", "deluxe", "standard"),
    }
)
_UNSAID = """
a about above after again all also always am allow allowed allows along an and any anything are around as at be
because best better been before being below beyond both but by came can come cannot can't comes could did do does
don't each either else ever every everything few fine for from further get gets give given go goes going had has
have having he her here him his how i i'd i'll i'm i've if in include included includes including into is it it's
its just keep kind know least less let like likes look made make makes many may me might more most much must my near
need needs neither no nor not nothing now of off on once one only or other others our ours out over own please put
question really same see shall she should since so some something still such sure take than thank thanks that that's
the their them then there these they thing things this those through to too two under until up upon us very want
wants was we we'd we'll we're well were what which while who will wish with within without won't would yes yet you
you'll you're your
"""
_MINOR = frozenset(_UNSAID.split())
_WORD = re.compile(r"[$]|[^\W_]+(?:['’-][^\W_]+)*")


def stem(word: str) -> str:
    """A word without the endings that most often differ between two ways of saying one thing."""
    for ending, put in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + put
    return word


_LISTED = [
    (word, f"#{group}")
    for group, _, members in (line.partition(": ") for line in _GROUPS.strip().splitlines())
    for word in members.split()
]
# As they are written first: parking is something else than a park.
_GROUP_OF = {**{stem(word): group for word, group in reversed(_LISTED)}, **dict(_LISTED)}


def words(text: str) -> list[str]:
    """The words of a text in lower case; a dollar sign is one."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


@lru_cache(512)
def concepts(text: str) -> frozenset[str]:
    """What a text is about: groups as `#money`, and the stems of all other words that carry meaning."""
    return frozenset(
        _GROUP_OF.get(word) or _GROUP_OF.get(stem(word), stem(word)) for word in words(text) if word not in _MINOR
    )


def kinds(text: str) -> frozenset[str]:
    """The words in a text that tell apart what stands in one group, in the singular."""
    return frozenset(word for each in words(text) for word in (each, each.removesuffix("s")) if word in KINDS)


def specific(found: frozenset[str]) -> frozenset[str]:
    """The groups among concepts, without those that nearly every line of a trip is about."""
    return frozenset(concept for concept in found if concept[0] == "#") - _BROAD


def broad(found: frozenset[str]) -> frozenset[str]:
    """The groups among concepts that nearly every line of a trip is about."""
    return found & _BROAD
