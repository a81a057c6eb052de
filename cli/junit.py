"""Results of many tasks as JUnit XML, which CI systems show: one test case a task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_UNPRINTABLE = r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # what XML 1.0 cannot hold
_OUTCOMES = {0: "passed", 1: "failure", 2: "error", 3: "skipped", 4: "failure", 70: "error"}  # by exit code


@dataclass(frozen=True, slots=True)
class Case:
    """One task: its file, its name, seconds, its exit code, and why that is not 0."""

    file: str
    name: str
    seconds: float
    code: int
    reason: str = ""

    @property
    def outcome(self) -> str:
        """What JUnit calls it: failure (not as expected, or refuted), error (invalid), skipped (undecided), passed."""
        return _OUTCOMES[self.code]


def junit_xml(suite: str, cases: Sequence[Case]) -> bytes:
    """The document."""
    from xml.etree import ElementTree  # here, and the pattern not compiled before: few want a document

    count = Counter(case.outcome for case in cases)
    totals = {
        "tests": str(len(cases)),
        "failures": str(count["failure"]),
        "errors": str(count["error"]),
        "skipped": str(count["skipped"]),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
    root = ElementTree.Element("testsuites", totals)
    parent = ElementTree.SubElement(root, "testsuite", {"name": suite, **totals})
    for case in cases:
        facts = {"classname": _text(case.file), "name": _text(case.name), "time": f"{case.seconds:.3f}"}
        element = ElementTree.SubElement(parent, "testcase", facts)
        if case.outcome != "passed":
            first, *_ = case.reason.splitlines() or [""]
            said = ElementTree.SubElement(element, case.outcome, {"message": _text(first)})
            said.text = _text(case.reason)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _text(text: str) -> str:
    return re.sub(_UNPRINTABLE, "\ufffd", text)
