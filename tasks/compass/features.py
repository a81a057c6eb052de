"""What a hotel, a room, a flight or a permit may have: as a condition, and in words that say exactly that.

A feature is either constrained ("The hotel must have a pool.") or wished for ("a pool").
"""

from __future__ import annotations

from dataclasses import dataclass

HOTEL = ("The hotel must have {it}.", "It has to be a hotel with {it}.", "A hotel without {it} is out of the question.")
ROOM = ("The room must have {it}.", "It has to be a room with {it}.", "A room without {it} will not do.")
RATE = ("The booking must come with {it}.", "Only a booking with {it} will do.", "{It} is a must.")
FLIGHT = ("It has to be {it}.", "Only {it} will do.", "{It}: that is a must.")


@dataclass(frozen=True, slots=True)
class Feature:
    """`require` is the condition; `it`, what a wish calls it; `says`, how a constraint is told, with `{it}` in it.

    `level`: the first one that has such an offer. `group`: of features in one group a task has at most one.
    """

    name: str
    kind: str
    level: int
    require: str
    it: str
    says: tuple[str, ...]
    group: str = ""
    wish: bool = True

    @property
    def topic(self) -> str:
        """What it is about."""
        return self.group or self.name


def _hotel(name: str, it: str, kind: str = "hotel amenity", column: str = "") -> Feature:
    return Feature(name, kind, 1, f"hotel.{column or f'has_{name}'}", it, HOTEL)


def _room(name: str, it: str) -> Feature:
    return Feature(name, "room amenity", 1, f"hotel.has_{name}", it, ROOM)


def _at_least(name: str, kind: str, column: str, numbers: dict[str, str], says: tuple[str, ...]) -> list[Feature]:
    """A feature for each number, written as in an expression and as people write it."""
    return [
        Feature(f"{name}_{n.replace('.', '')}", kind, 1, f"hotel.{column} >= {n}", it, says, name)
        for n, it in numbers.items()
    ]


def _either(name: str, first: str, second: str, it: str, says: tuple[str, ...] = HOTEL) -> Feature:
    return Feature(name, "or", 1, f"hotel.{first} or hotel.{second}", it, says, wish=False)


FEATURES: tuple[Feature, ...] = (
    _hotel("pool", "a pool"),
    _hotel("restaurant", "a restaurant"),
    _hotel("parking", "parking"),
    _hotel("wifi", "wifi"),
    _hotel("gym", "a gym"),
    _hotel("spa", "a spa"),
    _hotel("bar", "a bar"),
    _hotel("laundry", "a laundry"),
    _hotel("ev_charging", "charging for electric cars"),
    _hotel("airport_shuttle", "an airport shuttle"),
    _hotel("accessible", "wheelchair access", "accessibility", "is_accessible"),
    Feature(
        "family_friendly", "accessibility", 1, "hotel.is_family_friendly", "a family-friendly hotel",
        ("It has to be {it}.", "Only {it} will do.", "It must be {it}."),
    ),
    _room("kitchenette", "a kitchenette"),
    _room("air_conditioning", "air conditioning"),
    _room("balcony", "a balcony"),
    _room("view", "a view"),
    _room("bathtub", "a bathtub"),
    _room("desk", "a desk"),
    Feature("size", "room amenity", 1, "hotel.size >= 25", "a size of at least 25 square metres", ROOM),
    Feature("free_cancellation", "cancellation", 1, "hotel.free_cancellation", "free cancellation", RATE),
    Feature(
        "no_prepayment", "prepayment", 1, "hotel.no_prepayment", "a booking without prepayment",
        ("It has to be {it}.", "Only {it} will do.", "Nothing may have to be paid in advance for the hotel."),
    ),
    Feature(
        "breakfast", "meals", 1, 'hotel.meal_plan in ["breakfast", "half_board"]', "breakfast or half board", RATE,
        "meals",
    ),
    Feature("half_board", "meals", 1, 'hotel.meal_plan == "half_board"', "half board", RATE, "meals"),
    Feature(
        "pets", "pets", 1, 'hotel.pet_policy != "not_allowed"', "a hotel that allows pets, free or for a fee",
        ("It has to be {it}.", "Only {it} will do.", "Pets must be allowed at the hotel; a fee is all right."), "pets",
    ),
    Feature(
        "pets_free", "pets", 1, 'hotel.pet_policy == "free"', "a hotel where pets stay for free",
        ("It has to be {it}.", "Only {it} will do.", "Pets must be able to stay at the hotel for free."), "pets",
    ),
    *_at_least("stars", "stars", "stars", {"3": "3 stars or more", "4": "4 stars or more"}, HOTEL),
    *_at_least(
        "score", "review score", "review_score",
        {n: f"a review score of {n} or better" for n in ("7.0", "7.5", "8.0")}, HOTEL,
    ),
    *_at_least(
        "reviews", "review count", "review_count", {str(n): f"at least {n} reviews" for n in (200, 400, 800)}, HOTEL
    ),
    *_at_least(
        "eco", "eco rating", "eco_rating", {str(n): f"an eco rating of {n} or more" for n in (2, 3)}, HOTEL
    ),
    *(
        Feature(
            f"within_{n}", "distance", 1, f"hotel.distance <= {n}", f"a hotel within {n} km of the park",
            ("It has to be {it}.", "Only {it} will do.", f"The hotel may be at most {n} km from the park."), "distance",
        )
        for n in (10, 20, 30, 40)
    ),
    Feature(
        "big_bed", "bed", 1, 'hotel.bed_type in ["king", "queen"]', "a king or queen bed", ROOM, "bed",
    ),
    Feature("twin_beds", "bed", 1, 'hotel.bed_type == "twin"', "twin beds", ROOM, "bed"),
    Feature(
        "room_type", "room type", 1, 'hotel.room_type in ["deluxe", "studio", "suite"]',
        "a deluxe room, studio or suite",
        ("It has to be {it}.", "Only {it} will do.", "The room type must be deluxe, studio or suite."), "type",
    ),
    _either("pool_or_spa", "has_pool", "has_spa", "a pool or a spa"),
    _either("kitchenette_or_restaurant", "has_kitchenette", "has_restaurant", "a kitchenette or a restaurant",
            ("There must be {it}.", "It has to be a place with {it}.", "{It}: one of the two is a must.")),
    _either("parking_or_shuttle", "has_ev_charging", "has_airport_shuttle",
            "charging for electric cars or an airport shuttle"),
    _either("balcony_or_view", "has_balcony", "has_view", "a balcony or a view", ROOM),
    _either("gym_or_bar", "has_gym", "has_bar", "a gym or a bar"),
    Feature(
        "no_bunk", "not", 1, 'not hotel.bed_type == "bunk"', "a room without bunk beds",
        ("It has to be {it}.", "No bunk beds.", "Bunk beds are out of the question."), "bed", wish=False,
    ),
    *(
        Feature(
            f"not_{brand.lower()}", "not", 1, f'not hotel.brand == "{brand}"', f"a hotel of another brand than {brand}",
            ("It has to be {it}.", f"No hotel of the brand {brand}.", f"Any brand but {brand}."), "brand",
            wish=False,
        )
        for brand in ("Independent", "Juniper", "Lantern", "Trailhead")
    ),
    Feature(
        "not_standard", "not", 1, 'not hotel.room_type == "standard"', "a room of another type than standard",
        ("It has to be {it}.", "No standard room.", "Any room type but standard."), "type", wish=False,
    ),
    Feature("direct", "direct flight", 2, "flight.is_direct", "direct flights both ways", FLIGHT),
    Feature("economy", "class", 2, 'flight.booking_class == "economy"', "flights in economy class", FLIGHT, "class"),
    Feature(
        "not_basic", "class", 2, 'flight.booking_class != "basic"', "flights in another class than basic", FLIGHT,
        "class",
    ),
    *(
        Feature(
            f"fly_{first.split()[0].lower()}_{second.split()[0].lower()}", "airline", 2,
            f'flight.airline in ["{first}", "{second}"]', f"flights with {first} or {second}", FLIGHT, "airline",
            wish=False,
        )
        for first, second in (("Blue Mesa", "Summit"), ("Cardinal", "Great Basin"), ("Great Basin", "Summit"))
    ),
    *(
        Feature(
            f"not_{airline.split()[0].lower()}", "airline", 2, f'not flight.airline == "{airline}"',
            f"flights with another airline than {airline}", FLIGHT, "airline", wish=False,
        )
        for airline in ("Blue Mesa", "Cardinal", "Summit")
    ),
    Feature("flight_wifi", "on board", 2, "flight.has_wifi", "wifi on both flights", RATE),
    Feature("flight_pets", "on board", 2, "flight.pets_allowed", "flights that allow pets both ways", FLIGHT),
    Feature("free_changes", "fare rules", 2, "flight.free_changes", "flights with free changes", FLIGHT),
    Feature("bags", "fare rules", 2, "flight.bags_included >= 1", "flights with at least 1 bag included", FLIGHT),
    *(
        Feature(
            f"leaves_{at.replace(':', '')}", "flight times", 2, f'flight.outbound_departs_at >= "{at}"',
            f"an outbound flight that departs at {at} or later", FLIGHT, "departure",
        )
        for at in ("08:00", "09:00", "12:00")
    ),
    *(
        Feature(
            f"back_{at.replace(':', '')}", "flight times", 2, f'flight.return_departs_at >= "{at}"',
            f"a return flight that departs at {at} or later", FLIGHT, "return",
        )
        for at in ("10:00", "13:00")
    ),
    *(
        Feature(
            f"drive_{n}", "drive time", 2, f"drive_minutes(flight.destination, hotel.park) <= {n}",
            f"a drive of at most {n} minutes from the airport to the park", FLIGHT, "drive",
        )
        for n in (90, 120, 180)
    ),
    Feature(
        "permit_weekday", "permit day", 3, 'weekday(permit.starts_on) not in ["sat", "sun"]',
        "a permit that starts on a weekday, Monday to Friday", FLIGHT, "permit day",
    ),
    Feature(
        "permit_later", "permit day", 3, 'permit.starts_on >= "2025-08-10"',
        "a permit that starts on 10 August 2025 or later", FLIGHT, "permit day", wish=False,
    ),
)  # fmt: skip
