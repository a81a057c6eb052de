"""Writes checklist.md: for each thing that the product has to show, the tests that show it.

    python docs/checklist.py            # a test fails when the page is not current

Tests say so themselves: `@pytest.mark.row(31)`. The rows are those of the specification that the project began with;
those between 56 and 98 are about a second benchmark and come with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "checklist.md"
PARTS = {
    "Data": {
        1: "Hotels: three tables, 20 parks, at most 20 hotels each, more than 100,000 offers",
        2: "Flights: two tables, 10 origins, 21 airports or more, 4 airlines, direct and one-stop, over 67,000 offers",
        3: "Permits: 50 in three types, a limited quota for each date",
        4: "Weekends are dearer and scarcer inside of weeks; late August is dearer without being scarcer",
        5: "Rocky Mountain is dearest, Death Valley and Everglades have fewest hotels, four stars are scarce in places",
        6: "Fares have a long tail, small airports fewer flights",
        7: "One seed, one digest",
        8: "Ids are formatted and parsed back, and altered ones refused",
    },
    "Tools": {
        9: "18 tools with JSON Schemas; aliases resolve",
        10: "Hotel search: every filter equals a direct query",
        11: "Group packages: rooms by capacity, totals summed over nights",
        12: "Fuzzy hotel names, room details, places with confidence",
        13: "Flights: round trips only, filters, details agree with the search",
        14: "Permits: exact template, durations, quotas that run out",
        15: "Weekday, safe arithmetic, driving time, notebook",
        16: "Recommend tools: one to three ids, unknown ones refused",
        17: "Programs call the tools from a sandbox; inner calls are logged and counted",
    },
    "Tasks and solver": {
        18: "281 tasks: 142, 69 and 70 by level, 154 with one metric and 127 with wishes",
        19: "Every kind of constraint is there and filters",
        20: "The first message holds the initial constraints only",
        21: "Any weekend in August is five ranges; the other date forms",
        22: "Every single metric is solved",
        23: "Wish lists of eight and ten",
        24: "Level I equals brute force",
        25: "Level II: dates couple; equals brute force",
        26: "Level III: the permit drives the dates; equals brute force",
        27: "What is stored follows again from the data",
        28: "No task is empty or trivial",
    },
    "Conversation": {
        29: "108 personas, sampled 1/3, 80/20 and 50/50",
        30: "Revelation rates lie in their bands, and everything is revealed in the end",
        31: "Hidden constraints are in no prompt and no message",
        32: "Static and dynamic parts of the prompt, turn by turn",
        33: "Nine styles say the same constraints",
        34: "A reliable user flags a violation, an unreliable one does not",
        35: "A questioning user asks once for a second look, after everything is said, and adds nothing",
        36: "The user asks for a formal recommendation that is missing",
        37: "Questions are answered from the script, and nothing beyond it",
        38: "Six kinds of user faults and two rubrics are counted",
        39: "The answer's form: parsed, repaired once, recorded as an error",
        40: "Every conversation ends with a reason",
    },
    "Scores and analyses": {
        41: "Feasibility of hand-made answers, one breaking each constraint",
        42: "The top 5, 10 and 20 %, with ties and small sets",
        43: "The best of three at Level I, exactly one above",
        44: "The optimum has gap zero",
        45: "Wrong calls are told apart: name, parameter, content",
        46: "Effort and yield count neither repetitions nor failures",
        47: "Optimality by effort",
        48: "When everything was said, how long it took after that, how long in all",
        49: "By level",
        50: "By number of constraints",
        51: "By speed of revelation",
        52: "Variation over styles, and the trust test, against published numbers",
        53: "Stability over five runs",
        54: "Agents without a model show the gap, and code closes it",
        55: "Two agents side by side on one task",
    },
    "Both": {
        99: "One report with intervals, reference rows and where they come from",
        100: "A full run offline, twice the same bytes",
    },
}


def marked(tests: Path) -> Iterator[tuple[int, str]]:
    """(row, "file::test") for every mark in the tests, in the order of files and lines."""
    for path in sorted(tests.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.row":
                    yield from ((int(ast.unparse(row)), f"{path.name}::{node.name}") for row in mark.args)


def page() -> str:
    """The text of checklist.md; raises KeyError for a mark of a row that there is not."""
    shown: dict[int, list[str]] = {row: [] for rows in PARTS.values() for row in rows}
    for row, test in marked(ROOT / "tests"):
        shown[row].append(test)
    lines = [
        "# What is shown, and by which test",
        "",
        "Written by `python docs/checklist.py` from the marks in the tests. Run one with `pytest tests/FILE::TEST`.",
    ]
    for part, rows in PARTS.items():
        lines += ["", f"## {part}", "", "| | what | shown by |", "|---:|---|---|"]
        lines += [
            f"| {row} | {what} | {'<br>'.join(f'`{test}`' for test in shown[row])} |" for row, what in rows.items()
        ]
    return "\n".join(lines) + "\n"


def missing() -> list[int]:
    """The rows that no test shows."""
    shown = {row for row, _ in marked(ROOT / "tests")}
    return [row for rows in PARTS.values() for row in rows if row not in shown]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
