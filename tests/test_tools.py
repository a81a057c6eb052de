"""The tools of the agent: their schemas, what they make of wrong calls, and those that need no search."""

from __future__ import annotations

import json
import math
import operator
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.tools.catalogue import Catalogue, catalogue_of
from cobench.agent_runner.tools.columns import DETAILS, SHOWN
from cobench.agent_runner.tools.result import Result
from cobench.agent_runner.tools.toolbox import ALIASES, Toolbox
from cobench.datasets.opening import Dataset, open_dataset
from cobench.datasets.parks import places
from cobench.schemas.episode import Fault
from cobench.schemas.errors import ManifestError, TableError
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
DATA = open_dataset("parks")
CATALOGUE = catalogue_of(DATA)
TOOLBOX = Toolbox(CATALOGUE)
SCHEMAS = {item["function"]["name"]: item["function"] for item in TOOLBOX.schemas()}
HOTEL = {"location": "Zion", "start_date": "2025-08-05", "end_date": "2025-08-08", "num_guests": 3}
FLIGHT = {"origin": "DEN", "destination": "LAS", "departure_date": "2025-08-05", "return_date": "2025-08-08"}
PERMIT = {"park": "Zion", "template_name": "Angels Landing"}
RIGHT: dict[str, dict[str, Any]] = {
    "search_airports": {"park_name": "Zion"},
    "search_flights": FLIGHT,
    "get_flight_details": {"package_id": "flight_T0154_5_8"},
    "get_airport_location": {"airport_code": "LAS"},
    "list_permits": {"park": "Zion"},
    "search_permit_availability": PERMIT,
    "search_hotel": HOTEL,
    "get_hotel_details": {"hotel_identifier": "zion-05"},
    "get_room_details": {"package_id": "pkg_0103d6b7_5_8_2"},
    "search_location_name": {"query": "yosmite"},
    "calendar": {"date": "2025-08-09"},
    "calculator": {"expression": "(3 * 129.50 + 80) / 2"},
    "calculate_driving_distance": {"lat1": 36.08, "lon1": -115.15, "lat2": 37.3, "lon2": -113.05},
    "notebook": {"action": "list_all"},
    "recommend_hotel": {"ids": ["pkg_0103d6b7_5_8_2"], "reasoning": "near"},
    "recommend_flight": {"ids": ["flight_T0154_5_8"], "reasoning": "cheap"},
    "recommend_permit": {"ids": ["permit_P50_1_2"], "reasoning": "fits"},
    "get_park_coordinates": {"park": "Zion"},
}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """What a call that is right gives."""
    result = TOOLBOX.call(name, arguments)
    assert result.fault is None, result.content
    return result.content


def wrong(name: str, arguments: Any, fault: Fault) -> dict[str, str]:
    """The error that a wrong call gives."""
    result = TOOLBOX.call(name, arguments)
    assert result.fault is fault, result.content
    assert not result.offers
    error = result.content["error"]
    assert error["kind"] == fault.value
    assert error.keys() == {"kind", "message", "hint"}
    return error


# --- schemas --------------------------------------------------------------------------------------------------------


@pytest.mark.row(9)
def test_there_are_eighteen_tools_under_canonical_names_and_all_answer() -> None:
    assert SCHEMAS.keys() == RIGHT.keys()
    assert len(TOOLBOX.schemas()) == len(SCHEMAS) == 18
    for name, arguments in RIGHT.items():
        call(name, **arguments)


@pytest.mark.row(9)
def test_other_spellings_are_the_same_tools() -> None:
    assert ALIASES == {
        "get_airport_coordinates": "get_airport_location",
        "AccommodationSearch": "search_hotel",
        "get_weekday": "calendar",
        "calculate": "calculator",
        "calculate_distance": "calculate_driving_distance",
        "validate_hotel_id": "recommend_hotel",
        "validate_flight_id": "recommend_flight",
        "validate_permit_id": "recommend_permit",
    }
    for alias, name in ALIASES.items():
        assert TOOLBOX.call(alias, RIGHT[name]) == TOOLBOX.call(name, RIGHT[name])
        assert TOOLBOX.call(alias, RIGHT[name]).tool == name


KEPT = {"type", "format", "description", "default", "enum", "items", "properties", "additionalProperties", "required",
        "minimum", "maximum"}  # fmt: skip


@pytest.mark.row(9)
def test_schemas_are_of_the_part_of_json_schema_that_everybody_keeps() -> None:
    for item in TOOLBOX.schemas():
        assert item.keys() == {"type", "function"}
        assert item["type"] == "function"
        function = item["function"]
        assert function.keys() == {"name", "description", "parameters"}
        parameters = function["parameters"]
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) <= parameters["properties"].keys()
        for name, schema in parameters["properties"].items():
            assert schema.keys() <= KEPT, name
            assert len(schema["description"]) > 10
            assert schema["type"] in ("string", "integer", "number", "boolean", "array")
            assert (schema["type"] == "array") == ("items" in schema)
            assert name not in parameters["required"] or "default" not in schema
    for kind in ("hotel", "flight", "permit"):  # the limit that JSON Schema may not say here
        assert "One to three" in SCHEMAS[f"recommend_{kind}"]["parameters"]["properties"]["ids"]["description"]


@pytest.mark.row(9)
def test_inspect_keeps_every_word_of_the_schemas() -> None:
    tool = pytest.importorskip("inspect_ai.tool", reason="needs the extra cobench[agents]")
    for name, function in SCHEMAS.items():
        kept = tool.ToolParams.model_validate(function["parameters"]).model_dump(exclude_none=True)
        assert kept == function["parameters"], name


def test_the_page_about_tools_has_every_parameter() -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    for name, function in SCHEMAS.items():
        properties, required = (function["parameters"][key] for key in ("properties", "required"))
        shown = ", ".join(f"{item}" if item in required else f"[{item}]" for item in properties)
        aliases = "".join(f", {alias}" for alias, canonical in ALIASES.items() if canonical == name)
        assert f"| {name}{aliases} | {shown} |" in page, f"| {name}{aliases} | {shown} |"


# --- one form for equal questions -----------------------------------------------------------------------------------


def asked(name: str, **arguments: Any) -> dict[str, Any]:
    result = TOOLBOX.call(name, arguments)
    assert result.fault is None, result.content
    return dict(result.arguments)


def test_equal_questions_have_equal_arguments() -> None:
    same = asked("search_hotel", **HOTEL)
    assert same == HOTEL | {
        "free_cancellation": False, "no_prepayment_needed": False, "has_parking": False, "breakfast_included": False,
        "is_pet_friendly": False, "page": 1,
    }  # fmt: skip
    for other in (
        {"location": " zion  national PARK"}, {"num_guests": 3.0}, {"page": 1, "has_parking": False},
        {"max_price_nightly": None},
    ):  # fmt: skip
        assert asked("search_hotel", **(HOTEL | other)) == same
    assert asked("search_hotel", **HOTEL, max_price_nightly=200.0) == asked(
        "search_hotel", **HOTEL, max_price_nightly=200
    )
    assert asked("search_hotel", **HOTEL, page=1, max_price_nightly=200) != same
    assert asked("search_flights", **(FLIGHT | {"origin": " den ", "airline_preference": "SUMMIT"})) == asked(
        "search_flights", **FLIGHT, airline_preference="Summit", passengers=1
    )
    assert asked("get_hotel_details", hotel_identifier="Springdale Quiet River Hotel by Juniper") == asked(
        "get_hotel_details", hotel_identifier="zion-05"
    )
    assert asked("calculator", expression="1 + 2") == asked("calculator", expression="1+2")
    assert asked("search_location_name", query="Grand  Canyon") == asked("search_location_name", query="grand canyon")
    first = asked("recommend_permit", ids=["permit_P50_1_2", "permit_P50_1_3"], reasoning="a")
    assert first == asked("recommend_permit", ids=["permit_P50_1_3", "permit_P50_1_2"], reasoning="another")


@pytest.mark.parametrize("text", [json.dumps(HOTEL), json.dumps(HOTEL).encode()])
def test_arguments_may_come_as_json_text(text: str | bytes) -> None:
    assert TOOLBOX.call("search_hotel", text) == TOOLBOX.call("search_hotel", HOTEL)


# --- wrong calls ----------------------------------------------------------------------------------------------------


@pytest.mark.row(45)
def test_an_unknown_tool_is_a_fault_of_the_name() -> None:
    assert wrong("serch_hotel", HOTEL, Fault.NAME)["hint"] == "did you mean 'search_hotel'?"
    for name in ("", "Search_Hotel", "search_hotel ", "search_hotel\0", "é" * 10_000, "__class__"):
        wrong(name, HOTEL, Fault.NAME)
        assert len(TOOLBOX.call(name, None).tool) <= 100


@pytest.mark.row(45)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (None, "needs location, start_date, end_date, num_guests"),
        ("", "needs location"),
        ({**HOTEL, "location": None}, "needs location"),
        ({**HOTEL, "guests": 3}, "no parameter 'guests'"),
        ({**HOTEL, 7: 3}, "no parameter 'int'"),
        ({**HOTEL, "num_guests": "3"}, "num_guests must be a whole number, and not '3'"),
        ({**HOTEL, "num_guests": True}, "and not true"),
        ({**HOTEL, "num_guests": 2.5}, "and not 2.5"),
        ({**HOTEL, "num_guests": [3]}, "and not a list"),
        ({**HOTEL, "location": 5}, "location must be a text, and not 5"),
        ({**HOTEL, "has_parking": "yes"}, "has_parking must be true or false"),
        ({**HOTEL, "has_parking": 1}, "has_parking must be true or false"),
        ({**HOTEL, "max_price_nightly": math.nan}, "max_price_nightly must be a number, and not nan"),
        ({**HOTEL, "max_price_nightly": math.inf}, "and not inf"),
        ({**HOTEL, "max_price_nightly": {"a": 1}}, "and not an object"),
        ([HOTEL], "must be an object"),
        (5, "must be an object"),
        ("[1]", "must be an object"),
        ("{'location': 'Zion'}", "not valid JSON"),
        ('{"num_guests": NaN}', "not valid JSON"),
        ('{"num_guests": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"page": 1, "page": 2}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        (b"\xff\xfe{", "not valid JSON"),
        ('{"location": "' + "x" * 2**20 + '"}', "larger than 1 MiB"),
    ],
)
def test_misshapen_arguments_are_faults_of_parameters(arguments: Any, said: str) -> None:
    assert said in wrong("search_hotel", arguments, Fault.PARAMETER)["message"]
    wrong("recommend_hotel", {"ids": "pkg_0103d6b7_5_8_2", "reasoning": "x"}, Fault.PARAMETER)
    wrong("notebook", {"action": "read"}, Fault.PARAMETER)
    wrong("notebook", {"action": "write"}, Fault.PARAMETER)


@pytest.mark.row(45)
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search_hotel", {**HOTEL, "location": "Springdale"}, "no park 'Springdale'"),
        ("search_hotel", {**HOTEL, "location": ""}, "location is empty"),
        ("search_hotel", {**HOTEL, "location": "x" * 201}, "location is longer than 200 characters"),
        ("search_hotel", {**HOTEL, "start_date": "8 August"}, "start_date is no date: '8 August'"),
        ("search_hotel", {**HOTEL, "start_date": "2025-08-32"}, "start_date is no date"),
        ("search_hotel", {**HOTEL, "start_date": "2025-08-05T00:00"}, "start_date is no date"),
        ("search_hotel", {**HOTEL, "end_date": "2025-08-05"}, "end_date must be after start_date"),
        ("search_hotel", {**HOTEL, "num_guests": 0}, "num_guests lies outside its range"),
        ("search_hotel", {**HOTEL, "num_guests": 10**400}, "num_guests lies outside its range"),
        ("search_hotel", {**HOTEL, "num_guests": 1e300}, "num_guests lies outside its range"),
        ("search_hotel", {**HOTEL, "min_review_score": 11}, "min_review_score lies outside its range"),
        ("search_hotel", {**HOTEL, "page": 9}, "no page 9"),
        ("search_flights", {**FLIGHT, "origin": "XXX"}, "no airport 'XXX'"),
        ("search_flights", {**FLIGHT, "origin": "Denver"}, "no airport 'Denver'"),
        ("search_flights", {**FLIGHT, "destination": "DEN"}, "the same airport"),
        ("search_flights", {**FLIGHT, "return_date": "2025-08-04"}, "return_date must be after departure_date"),
        ("search_flights", {**FLIGHT, "airline_preference": "Lufthansa"}, "no airline 'Lufthansa'"),
        ("search_flights", {**FLIGHT, "booking_class": "first"}, "booking_class cannot be 'first'"),
        ("search_permit_availability", {**PERMIT, "template_name": "angels landing"}, "no permit 'angels landing'"),
        ("search_permit_availability", {**PERMIT, "park": "Arches"}, "Arches has no permit 'Angels Landing'"),
        ("search_permit_availability", {**PERMIT, "duration_days": 2}, "for backpacking permits only"),
        ("search_permit_availability", {**PERMIT, "date_range": "August"}, "no range of dates"),
        ("search_permit_availability", {**PERMIT, "date_range": "2025-08-09 to 2025-08-08"}, "ends before it starts"),
        ("get_hotel_details", {"hotel_identifier": "qqqqqq"}, "no hotel 'qqqqqq'"),
        ("get_airport_location", {"airport_code": "L"}, "no airport 'L'"),
        ("get_park_coordinates", {"park": "Hyde Park"}, "no park 'Hyde Park'"),
        ("calendar", {"date": "2025-02-29"}, "date is no date"),
        ("calculate_driving_distance", {"lat1": 91, "lon1": 0, "lat2": 0, "lon2": 0}, "lat1 lies outside its range"),
        ("notebook", {"action": "read", "index": 5}, "no note 5"),
        ("notebook", {"action": "burn"}, "action cannot be 'burn'"),
        ("notebook", {"action": "write", "input_data": "x" * 4001}, "at most 4000 characters"),
    ],
)  # fmt: skip
def test_values_that_name_nothing_are_faults_of_content(name: str, arguments: dict[str, Any], said: str) -> None:
    assert said in wrong(name, arguments, Fault.CONTENT)["message"]


def test_hints_name_what_may_be_meant() -> None:
    assert "Zion" in wrong("search_hotel", {**HOTEL, "location": "Springdale"}, Fault.CONTENT)["hint"]
    assert (
        "DEN (Denver International)" in wrong("search_flights", {**FLIGHT, "origin": "Denver"}, Fault.CONTENT)["hint"]
    )
    assert "'num_guests'" in wrong("search_hotel", {**HOTEL, "num_guest": 2}, Fault.PARAMETER)["hint"]
    close = wrong("search_permit_availability", {**PERMIT, "template_name": "angels landing"}, Fault.CONTENT)
    assert "did you mean 'Angels Landing'?" in close["hint"]


WORDS = st.sampled_from(
    ["Zion", "DEN", "LAS", "2025-08-05", "2025-08-08", "zion-05", "pkg_0103d6b7_5_8_2", "permit_P50_1_2", "write",
     "flight_T0154_5_8", "read", "business", "2025-08-01 to 2025-08-09", "\ud800", "\0", "1/0", "9" * 199, "(" * 150]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted({name for function in SCHEMAS.values() for name in function["parameters"]["properties"]})


def plain(result: Result) -> str:
    """The content as text; fails if it is no JSON, or larger than a result may be."""
    text = json.dumps(result.content, allow_nan=False, ensure_ascii=False)
    assert len(text) <= 30_000
    assert text.encode()
    assert json.dumps(result.arguments, ensure_ascii=False).encode()
    assert len(json.dumps(result.arguments, sort_keys=True, default=str)) <= 60_000
    return text


@pytest.mark.row(45)
@given(
    st.sampled_from([*SCHEMAS, "other"]),
    st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), VALUES, max_size=5) | VALUES,
    st.booleans(),
)
def test_no_call_raises(name: str, arguments: Any, completed: bool) -> None:
    if completed and isinstance(arguments, dict) and name in RIGHT:  # most of it right, so that it gets further
        known = {key: value for key, value in arguments.items() if key in SCHEMAS[name]["parameters"]["properties"]}
        arguments = RIGHT[name] | known
    result = Toolbox(CATALOGUE).call(name, arguments)
    assert ('"error"' in plain(result)) == (result.fault is not None)
    again = Toolbox(CATALOGUE).call(name, arguments)
    assert plain(again) == plain(result)


def test_endless_numbers_broken_texts_and_deep_lists_are_answered_too() -> None:
    for value in (10**5000, [10**5000], {"a": 10**5000}, {10**5000: 1}):
        for arguments in (value, {"page": value}, {**HOTEL, "num_guests": value}, {"ids": value, "reasoning": value}):
            for name in ("search_hotel", "recommend_hotel", "other"):
                plain(TOOLBOX.call(name, arguments))
    for broken in ("\ud800", {"\udfff": 1}, {"query": "\ud800"}, {"action": "write", "input_data": "a\ud800"}):
        for name in ("search_location_name", "notebook", "recommend_hotel", "\ud800"):
            plain(TOOLBOX.call(name, broken))
    plain(TOOLBOX.call("recommend_hotel", {"ids": ["\ud800"], "reasoning": "\ud800"}))
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    plain(TOOLBOX.call("recommend_hotel", {"ids": deep, "reasoning": deep}))


# --- utilities ------------------------------------------------------------------------------------------------------


@pytest.mark.row(15)
@given(st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_the_calendar_knows_weekdays(day: date) -> None:
    assert call("calendar", date=day.isoformat()) == {"date": day.isoformat(), "weekday": f"{day:%A}"}
    monday = date(2025, 8, 4)
    assert call("calendar", date=(monday + timedelta(7)).isoformat())["weekday"] == "Monday"


Value = Fraction | None  # None where something was divided by zero
APPLY: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def combined(parts: tuple[tuple[str, Value], str, tuple[str, Value]]) -> tuple[str, Value]:
    (left, a), sign, (right, b) = parts
    known = a is not None and b is not None and not (sign == "/" and b == 0)
    return f"({left}{sign} {right})", APPLY[sign](a, b) if known else None


NUMBERS = st.decimals(0, 1000, places=2).map(lambda number: (str(number), Fraction(number)))
SUMS = st.recursive(NUMBERS, lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(combined), max_leaves=8)


@pytest.mark.row(15)
@given(SUMS)
def test_arithmetic_is_exact(sums: tuple[str, Value]) -> None:
    expression, expected = sums
    if expected is None:
        assert wrong("calculator", {"expression": expression}, Fault.CONTENT)["message"] == "division by zero"
        return
    found = call("calculator", expression=expression)
    assert found["result"] == pytest.approx(float(expected))
    if found["exact"]:
        assert Fraction(found["decimal"]) == expected
    else:
        assert abs(Fraction(found["decimal"]) - expected) <= Fraction(1, 2 * 10**10)


@pytest.mark.row(15)
def test_arithmetic_knows_signs_and_says_when_it_rounds() -> None:
    for expression, decimal in {
        "1 - 2 - 3": "-4", "2 * -3": "-6", "8 / 4 / 2": "1", "2 + 3 * 4": "14", "-(2 + 3) * .5": "-2.5",
        "0.1 + 0.2": "0.3", "1.": "1", "0 / 5": "0", "1 / 8": "0.125", "0.005 * 0.5": "0.0025",
    }.items():  # fmt: skip
        assert call("calculator", expression=expression) == {
            "expression": expression, "result": float(decimal), "decimal": decimal, "exact": True
        }  # fmt: skip
    third = call("calculator", expression="-1/3")
    assert (third["decimal"], third["exact"]) == ("-0.3333333333", False)
    assert "rounded" in third["message"]


@pytest.mark.row(15)
@pytest.mark.parametrize(
    "expression",
    ["9**9**9", "2 +", "(1", "1)", "1 2", "1e3", "0x10", "1,000", "$5", "__import__('os')", "1//2", "5 % 2", "()", ".",
     "1..2", "(" * 40 + "1" + ")" * 40, "-" * 40 + "1", "1+" * 120 + "1", "٣ + 1", "1 / (2 - 2)"],
)  # fmt: skip
def test_whatever_else_is_no_arithmetic(expression: str) -> None:
    wrong("calculator", {"expression": expression}, Fault.CONTENT)


@pytest.mark.row(15)
def test_drives_are_estimated_as_those_of_the_world() -> None:
    airports, parks = ({place.name if hasattr(place, "hotels") else place.code: place for place in some}
                       for some in (places.airports(), places.parks()))  # fmt: skip
    for drive in places.drives():
        start, end = airports[drive.airport], parks[drive.park]
        found = call("calculate_driving_distance", lat1=start.latitude / 10_000, lon1=start.longitude / 10_000,
                     lat2=end.latitude / 10_000, lon2=end.longitude / 10_000)  # fmt: skip
        assert found["minutes"] == drive.minutes
        assert found["driving_time"] == f"{drive.minutes // 60}h {drive.minutes % 60:02d}m"
    same = call("calculate_driving_distance", lat1=1, lon1=1, lat2=1, lon2=1)
    assert (same["distance_km"], same["driving_time"]) == (0, "0h 10m")
    far = call("calculate_driving_distance", lat1=0, lon1=0, lat2=0, lon2=180)
    assert far["distance_km"] == pytest.approx(math.pi * 6371 * 1.3, abs=0.1)


@pytest.mark.row(15)
def test_the_notebook_writes_reads_deletes_and_lists() -> None:
    toolbox = Toolbox(CATALOGUE)

    def do(**arguments: Any) -> dict[str, Any]:
        return toolbox.call("notebook", arguments).content

    assert do(action="write", input_data="Zion, 5 to 8 August") == {
        "action": "write", "index": 1, "content": "Zion, 5 to 8 August"
    }  # fmt: skip
    assert do(action="write", input_data="b" * 4000)["index"] == 2
    assert do(action="read", index=1)["content"] == "Zion, 5 to 8 August"
    assert do(action="write", input_data="Arches", index=1)["index"] == 1
    assert do(action="list_all")["notes"] == [
        {"index": 1, "characters": 6, "begins": "Arches"}, {"index": 2, "characters": 4000, "begins": "b" * 40}
    ]  # fmt: skip
    assert do(action="delete", index=1)["content"] == "Arches"
    assert "no note 1" in do(action="read", index=1)["error"]["message"]
    assert "no note 1 to replace" in do(action="write", input_data="x", index=1)["error"]["message"]
    assert do(action="write", input_data="")["index"] == 3
    assert Toolbox(CATALOGUE).call("notebook", {"action": "list_all"}).content["total"] == 0


@pytest.mark.row(15)
def test_the_notebook_is_bounded() -> None:
    toolbox = Toolbox(CATALOGUE)
    for _ in range(100):
        assert toolbox.call("notebook", {"action": "write", "input_data": "\0" * 4000}).fault is None
    full = toolbox.call("notebook", {"action": "write", "input_data": "x"})
    assert "the notebook is full" in full.content["error"]["message"]
    for arguments in ({"action": "list_all"}, {"action": "read", "index": 7}):
        plain(toolbox.call("notebook", arguments))
    assert toolbox.call("notebook", {"action": "delete", "index": 4}).fault is None
    assert toolbox.call("notebook", {"action": "write", "input_data": "x"}).content["index"] == 101


# --- places ---------------------------------------------------------------------------------------------------------


@pytest.mark.row(12)
@pytest.mark.parametrize(
    ("query", "name", "kind"),
    [("yosmite", "Yosemite", "park"), ("the grand canyon", "Grand Canyon", "park"), ("ZION", "Zion", "park"),
     ("springdal", "Springdale", "town"), ("las vegas", "Harry Reid International", "airport"),
     ("sea", "Seattle-Tacoma International", "airport"), ("rocky mountains", "Rocky Mountain", "park"),
     ("smoky mountains national park", "Great Smoky Mountains", "park")],
)  # fmt: skip
def test_places_are_found_by_similar_names(query: str, name: str, kind: str) -> None:
    found = call("search_location_name", query=query)
    first = found["results"][0]
    assert (first["name"], first["location_type"]) == (name, kind)
    scores = [item["confidence_score"] for item in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(isinstance(score, int) and 60 <= score <= 100 for score in scores)
    assert found["total"] == len(scores) <= 10


def test_a_place_that_resembles_none_is_not_an_error() -> None:
    assert call("search_location_name", query="qqqq")["results"] == []
    assert "No park" in call("search_location_name", query="qqqq")["message"]


@pytest.mark.row(12)
def test_hotels_are_found_by_id_by_name_and_by_part_of_it() -> None:
    exact = call("get_hotel_details", hotel_identifier="zion-05")
    assert exact["hotel_name"] == "Springdale Quiet River Hotel by Juniper"
    assert (exact["confidence_score"], exact["other_matches"]) == (100, [])
    assert call("get_hotel_details", hotel_identifier="springdale quiet river hotel by juniper") == exact
    for text in ("Quiet River Springdale", "Springdale Quiet Rivr Hotel", "springdale quiet"):
        found = call("get_hotel_details", hotel_identifier=text)
        assert found["hotel_id"] == "zion-05"
        assert 60 <= found["confidence_score"] <= 99
    others = call("get_hotel_details", hotel_identifier="inn by lantern")["other_matches"]
    order = [(-item["confidence_score"], item["hotel_name"]) for item in others]
    assert order == sorted(order)
    assert len(order) <= 5


def test_airports_of_a_park_come_with_the_drive() -> None:
    for park in CATALOGUE.parks:
        found = call("search_airports", park_name=park)
        expected = {drive.airport: drive.minutes for drive in places.drives() if drive.park == park and drive.serves}
        assert {item["code"]: item["drive_minutes"] for item in found["results"]} == expected
        assert [item["code"] for item in found["results"]] == sorted(expected)
        assert all(item["drive_hours"] == round(item["drive_minutes"] / 60, 2) for item in found["results"])


def test_coordinates_are_those_of_the_facts() -> None:
    zion = call("get_park_coordinates", park="zion national park")
    assert zion == {"park": "Zion", "latitude": 37.3, "longitude": -113.05}
    assert call("get_airport_location", airport_code="las")["latitude"] == 36.0803


# --- what is told where, and for which worlds -----------------------------------------------------------------------


def test_columns_told_are_columns_of_the_offers() -> None:
    tables = DATA.manifest.sample().tables
    for table, told in SHOWN.items():
        known = tables[table].fields.keys()
        assert told <= known
        for columns in DETAILS[table].values():
            assert columns <= known
    room, hotel = DETAILS["stays"]["get_room_details"], DETAILS["stays"]["get_hotel_details"]
    hidden = {"room_type", "bed_type", "has_kitchenette", "has_air_conditioning", "has_view", "has_desk", "size"}
    assert hidden <= room - SHOWN["stays"]
    assert {"has_pool", "has_restaurant", "has_spa", "has_wifi", "has_gym", "is_accessible", "eco_rating"} <= (
        hotel - SHOWN["stays"]
    )
    assert {"total_price", "rooms", "distance", "review_score", "meal_plan", "pet_policy"} <= SHOWN["stays"]


def test_other_worlds_are_refused(tmp_path: Path) -> None:
    for path in DATA.folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    manifest = tmp_path / "dataset.yaml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("name: parks", "name: other"), encoding="utf-8")
    with pytest.raises(ManifestError, match="about worlds of the kind 'parks' only"):
        Catalogue(open_dataset(str(tmp_path)))
    manifest.write_text(text, encoding="utf-8")
    (tmp_path / "stays.parquet").write_bytes(b"PAR1")
    with pytest.raises(TableError, match="stays: the file cannot be read"):
        Catalogue(open_dataset(str(tmp_path)))
    (tmp_path / "stays.parquet").unlink()
    with pytest.raises(TableError, match="stays: the file cannot be read"):
        Catalogue(open_dataset(str(tmp_path)))


def test_a_catalogue_is_made_once() -> None:
    data = Dataset(DATA.folder, DATA.manifest)
    assert catalogue_of(data) is catalogue_of(data)
