"""Writes the tables of `world/` and the certificates in `valid/`, `invalid/`, `malformed/`, as they are committed.

    python tests/certificates/make.py

Run it after a deliberate change of the certificate format. The changes that make a certificate wrong are listed here:
each file says by its name what is wrong with it, and nothing else is.
"""

# ruff: noqa: E501  (an edit is a row of a table)

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cobench
import pyarrow as pa
import pyarrow.parquet as pq
from cobench.datasets.opening import Dataset
from cobench.schemas.canonical import canonical_bytes, digest
from cobench.schemas.problem import Problem, pose
from cobench.solver.checker import replay as checker
from cobench.verification import replay

HERE = Path(__file__).resolve().parent
DAY = datetime.date(2025, 8, 1)
NEXT = datetime.date(2025, 8, 2)

Json = Any

STRING, NUMBER, BOOL, DATE = pa.string(), pa.int64(), pa.bool_(), pa.date32()
TABLES: dict[str, tuple[dict[str, pa.DataType], list[tuple[Any, ...]]]] = {
    "towns": ({"town": STRING, "coast": BOOL, "altitude": NUMBER}, [("Abo", True, 3), ("Bly", False, 410), ("Cue", True, None)]),
    "rooms": (
        {
            "room": STRING, "town": STRING, "night": DATE, "kind": STRING, "stars": NUMBER, "price": NUMBER, "beds": NUMBER,
            "free": NUMBER, "pool": BOOL,
        },
        [
            ("a1", "Abo", DAY, "inn", 35, 9950, 2, 4, True),
            ("a1", "Abo", NEXT, "inn", 35, 11950, 2, 4, True),
            ("a2", "Abo", DAY, "hut", 20, 4500, 4, 1, False),
            ("a2", "Abo", NEXT, "hut", 20, 4500, 4, 1, False),
            ("b1", "Bly", DAY, "inn", 40, 8000, 3, 2, True),
            ("b1", "Bly", NEXT, "inn", 40, 8000, 3, 2, True),
            ("b2", "Bly", DAY, "hut", 15, 2999, 6, 1, False),
            ("c1", "Cue", DAY, "villa", 50, 45000, 6, 1, True),
            ("c1", "Cue", NEXT, "villa", 50, 39900, 6, 1, True),
            ("c2", "Cue", NEXT, "inn", 45, 9999, 1, 2, False),
        ],
    ),
    "trains": (
        {
            "train": STRING, "coach": NUMBER, "arrives_on": DATE, "arrives_at": NUMBER, "station": STRING, "minutes": NUMBER,
            "fare": NUMBER,
        },
        [
            ("t1", None, DAY, 600, "N", 95, 2500),
            ("t2", 7, DAY, 720, "N", 120, 1999),
            ("t3", None, NEXT, 600, "N", 95, 3100),
            ("t4", None, NEXT, 1439, "S", 60, 6400),
            ("t5", 1, DAY, 0, "S", 60, 5800),
            ("t6", None, NEXT, 815, "N", 140, 1500),
            ("t7", None, DAY, 815, "S", 100, 5800),
        ],
    ),
    "vaults": (
        {"vault": STRING, "gold": NUMBER},
        [("q", 2**59), ("r", 2**59 + 1), ("s", 2**53), ("t", -(2**53)), ("u", 2**53 - 1), ("v", 2**59), ("w", 2**60)],
    ),
    "near": ({"station": STRING, "town": STRING}, [("N", "Abo"), ("N", "Bly"), ("S", "Abo"), ("S", "Cue")]),
    "walk": (
        {"station": STRING, "town": STRING, "minutes": NUMBER},
        [("N", "Abo", 15), ("N", "Bly", 20), ("S", "Abo", 21), ("S", "Bly", 90), ("S", "Cue", 5)],
    ),
}  # fmt: skip


def write_tables(folder: Path) -> None:
    """The Parquet files of the world."""
    for name, (types, rows) in TABLES.items():
        columns = zip(*rows, strict=True)
        arrays = {column: pa.array(values, kind) for (column, kind), values in zip(types.items(), columns, strict=True)}
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet")


# ---------------------------------------------------------------------------------------------------- valid


def graded(problem: Problem, dataset: Dataset, certificate: cobench.Certificate) -> Json:
    """The certificate as plain data, every claim with the grade that the checker gives it."""
    report = replay(problem, dataset, certificate)
    if report.refuted:
        raise ValueError(report.refuted)
    claims = certificate.claims.with_grades(checker.grades(certificate, report))
    return certificate.model_copy(update={"claims": claims}).content()


def valid() -> dict[str, Json]:
    """Certificates that hold, by name, without their digests."""
    dataset = cobench.open_dataset(str(HERE / "world"))
    files = {
        name: cobench.load_task(HERE / "tasks" / f"{name}.yaml") for name in ("cheapest", "wishes", "nowhere", "gold")
    }
    problems = {name: pose(file, dataset.manifest) for name, file in files.items()}
    found = {name: cobench.verify(file, dataset, engines="scan").certificate.content() for name, file in files.items()}
    found["engines"] = cobench.verify(files["wishes"], dataset, engines="all").certificate.content()
    scoped = cobench.certify(files["cheapest"], dataset, constraints=["way", "day"], within=WITHIN)
    found["scope"] = graded(problems["cheapest"], dataset, scoped)
    found["unknown"] = cobench.verify(
        files["wishes"], dataset, cobench.Limits(None, 1), engines="scan"
    ).certificate.content()
    found["incumbent"] = incumbent(found["cheapest"])
    return found


WITHIN = {
    "room": ["room_a1_1", "room_a2_1", "room_a2_2", "room_b1_2"],
    "train": ["train_t1", "train_t2_7", "train_t3", "train_t4"],
}


def incumbent(content: Json) -> Json:
    """What a search that was stopped would say of the cheapest plan: a plan, a bound, and an interval."""
    made = copy.deepcopy(content)
    claims = made["claims"]
    del claims["distribution"], claims["optimum"]
    plan = {"picks": {"room": [{"id": "room_a2_1"}], "train": [{"id": "train_t1"}]}}
    claims["incumbent"] = {"bound": 8000, "grade": "proved", "plan": plan, "value": 12000}
    claims["count"] |= {"at_least": 3, "at_most": 42}
    made["evidence"][0] |= {"status": "feasible", "value": 12000, "reason": "work limit"}
    del made["evidence"][0]["count"]
    return made


# -------------------------------------------------------------------------------------------------- invalid

PICK = ("claims", "optimum", "plan", "picks")
WHY = ("claims", "conflicts")
DIGEST = "sha256:" + "0" * 64


def put(*path_and_value: Any) -> Callable[[Json], None]:
    """An edit that sets the value at a path."""
    *path, last, value = path_and_value

    def edit(content: Json) -> None:
        for step in path:
            content = content[step]
        content[last] = value

    return edit


def drop(*path: Any) -> Callable[[Json], None]:
    """An edit that removes what is at a path."""

    def edit(content: Json) -> None:
        for step in path[:-1]:
            content = content[step]
        del content[path[-1]]

    return edit


def both(*edits: Callable[[Json], None]) -> Callable[[Json], None]:
    """Several edits."""

    def edit(content: Json) -> None:
        for each in edits:
            each(content)

    return edit


def plan_of(content: Json, value: int, **ids: str) -> None:
    """Another best plan, as if it were the optimum."""
    content["claims"]["optimum"]["value"] = value
    content["claims"]["optimum"]["plan"]["picks"] = {choice: [{"id": offer}] for choice, offer in ids.items()}


SOLVABLE = {
    "count": {"at_least": 1, "at_most": 1, "grade": "proved"},
    "optimum": {
        "grade": "proved", "plan": {"picks": {"room": [{"id": "room_c1_2"}], "train": [{"id": "train_t3"}]}}, "tied": 1,
        "value": 46100,
    },
    "status": {"grade": "proved", "value": "solvable"},
}  # fmt: skip

# What is refuted, a name for what is wrong, the valid certificate it was, and the edit.
INVALID: list[tuple[str, str, str, Callable[[Json], None]]] = [
    ("optimum", "a-cent-too-low", "cheapest", put("claims", "optimum", "value", 8999)),
    ("optimum", "a-cent-too-high", "cheapest", put("claims", "optimum", "value", 9001)),
    ("optimum", "of-a-worse-plan", "cheapest", lambda c: plan_of(c, 10497, room="room_a2_1", train="train_t2_7")),
    ("optimum", "of-a-plan-on-two-days", "cheapest", lambda c: plan_of(c, 9000, room="room_a2_1", train="train_t6")),
    ("optimum", "of-a-plan-over-budget", "cheapest", lambda c: plan_of(c, 39900, room="room_c1_2", train="train_t3")),
    ("optimum", "of-no-offer", "cheapest", put(*PICK, "train", [{"id": "train_t8"}])),
    ("optimum", "with-id-of-another-parameter", "cheapest", put(*PICK, "room", [{"id": "room_c2_2"}])),
    ("optimum", "lacks-a-choice", "cheapest", drop(*PICK, "train")),
    ("optimum", "picks-twice", "cheapest", put(*PICK, "train", [{"id": "train_t6"}, {"id": "train_t6"}])),
    ("optimum", "picks-what-is-no-choice", "cheapest", put(*PICK, "boat", [{"id": "train_t6"}])),
    ("optimum", "tied-but-not-the-least-ids", "wishes", put(*PICK, "room", [{"id": "room_b1_1"}])),
    ("optimum", "has-one-more-tied", "wishes", put("claims", "optimum", "tied", 5)),
    ("optimum", "tied-with-none", "wishes", put("claims", "optimum", "tied", 0)),
    ("optimum", "skips-the-runner-up", "wishes", put("claims", "optimum", "runner_up", 2)),
    ("optimum", "lacks-the-runner-up", "wishes", drop("claims", "optimum", "runner_up")),
    ("optimum", "last-digit-that-a-float-loses", "gold", put("claims", "optimum", "value", "585467951558164480")),
    ("status", "optimum-and-incumbent", "cheapest", lambda c: c["claims"].update(incumbent=incumbent(c)["claims"]["incumbent"])),
    ("status", "lacks-its-plan", "cheapest", both(drop("claims", "optimum"), drop("claims", "distribution"))),
    ("status", "solvable-is-called-unsolvable", "cheapest", lambda c: c.update(claims={"status": {"grade": "proved", "value": "unsolvable"}})),
    ("status", "unsolvable-is-called-solvable", "nowhere", put("claims", SOLVABLE)),
    ("status", "unknown-is-called-proved", "unknown", put("claims", "status", "grade", "proved")),
    ("status", "unknown-for-no-reason", "unknown", drop("claims", "status", "reason")),
    ("status", "solvable-for-a-reason", "cheapest", put("claims", "status", "reason", "work limit")),
    ("status", "proved-is-called-claimed", "nowhere", put("claims", "status", "grade", "claimed")),
    ("count", "one-more", "cheapest", both(put("claims", "count", "at_least", 11), put("claims", "count", "at_most", 11))),
    ("count", "unsolvable-with-a-plan", "nowhere", put("claims", "count", "at_most", 1)),
    ("count", "interval-misses", "incumbent", put("claims", "count", "at_most", 9)),
    ("count", "interval-is-empty", "unknown", put("claims", "count", "at_most", -1)),
    ("count", "proved-is-called-agreed", "wishes", put("claims", "count", "grade", "agreed")),
    ("distribution", "lacks-a-value", "cheapest", drop("claims", "distribution", "values", 8)),
    ("distribution", "moves-a-plan", "wishes", put("claims", "distribution", "values", [[4, 4], [3, 9], [2, 7], [1, 6], [0, 2]])),
    ("distribution", "worst-first", "wishes", lambda c: c["claims"]["distribution"]["values"].reverse()),
    ("distribution", "without-a-count", "wishes", drop("claims", "count")),
    ("distribution", "of-an-unsolvable-task", "nowhere", put("claims", "distribution", {"grade": "proved", "values": []})),
    ("conflicts", "with-a-name-too-many", "nowhere", put(*WHY, "conflicts", [["sea", "day", "budget"]])),
    ("conflicts", "with-a-name-too-few", "nowhere", put(*WHY, "conflicts", [["budget"]])),
    ("conflicts", "with-an-unknown-name", "nowhere", put(*WHY, "conflicts", [["sea", "tide"]])),
    ("conflicts", "not-in-file-order", "nowhere", put(*WHY, "conflicts", [["budget", "sea"]])),
    ("conflicts", "names-one-twice", "nowhere", put(*WHY, "conflicts", [["sea", "sea", "budget"]])),
    ("conflicts", "one-twice", "nowhere", put(*WHY, "conflicts", [["sea", "budget"], ["sea", "budget"]])),
    ("conflicts", "complete-without-any", "nowhere", put(*WHY, "conflicts", [])),
    ("conflicts", "corrections-lack-one", "nowhere", drop(*WHY, "corrections", 0)),
    ("conflicts", "correction-drops-too-much", "nowhere", put(*WHY, "corrections", 0, "drop", ["sea", "day"])),
    ("conflicts", "correction-drops-the-wrong-one", "nowhere", put(*WHY, "corrections", 0, "drop", ["day"])),
    ("conflicts", "correction-with-a-bad-plan", "nowhere", put(*WHY, "corrections", 0, "plan", "picks", "room", [{"id": "room_c1_1"}])),
    ("conflicts", "moves-a-cent-too-far", "nowhere", put(*WHY, "corrections", 1, "move", "amount", 32901)),
    ("conflicts", "moves-a-cent-too-little", "nowhere", put(*WHY, "corrections", 1, "move", "amount", 32899)),
    ("conflicts", "moves-what-is-no-threshold", "nowhere", put(*WHY, "corrections", 1, "move", "constraint", "day")),
    ("conflicts", "moves-nothing", "nowhere", drop(*WHY, "corrections", 1, "move")),
    ("conflicts", "of-a-solvable-task", "cheapest", put(*WHY, {"complete": True, "conflicts": [], "corrections": [], "grade": "proved"})),
    ("incumbent", "bound-beyond-the-optimum", "incumbent", put("claims", "incumbent", "bound", 9001)),
    ("incumbent", "better-than-its-bound", "incumbent", put("claims", "incumbent", "bound", 12001)),
    ("incumbent", "worth-less-than-it-says", "incumbent", put("claims", "incumbent", "value", 11999)),
    ("task", "another-id", "cheapest", put("task", "id", "tiny-cheaper")),
    ("task", "another-digest", "cheapest", put("task", "digest", DIGEST)),
    ("dataset", "another-name", "cheapest", put("dataset", "name", "parks")),
    ("dataset", "another-manifest", "cheapest", put("dataset", "manifest", DIGEST)),
    ("dataset", "another-table", "cheapest", put("dataset", "tables", "towns", DIGEST)),
    ("dataset", "lacks-a-table", "cheapest", drop("dataset", "tables", "towns")),
    ("dataset", "has-a-table-too-many", "cheapest", put("dataset", "tables", "vaults", DIGEST)),
    ("dataset", "another-relation", "wishes", put("dataset", "relations", "walk", DIGEST)),
    ("dataset", "lacks-a-relation", "wishes", put("dataset", "relations", {})),
    ("objective", "the-other-sense", "nowhere", put("objective", "sense", "maximize")),
    ("objective", "another-unit", "nowhere", put("objective", "unit", "EUR")),
    ("objective", "another-scale", "nowhere", put("objective", "scale", 1)),
    ("scope", "unknown-constraint", "scope", put("scope", "constraints", ["day", "tide"])),
    ("scope", "unknown-choice", "scope", put("scope", "within", "boat", ["boat_1"])),
    ("scope", "unknown-offer", "scope", put("scope", "within", "train", ["train_t1", "train_t2", "train_t3", "train_t4"])),
    ("scope", "not-in-file-order", "scope", put("scope", "constraints", ["day", "way"])),
    ("scope", "constraint-twice", "scope", put("scope", "constraints", ["way", "day", "day"])),
    ("scope", "offer-twice", "scope", put("scope", "within", "train", ["train_t1", "train_t1", "train_t2_7", "train_t3", "train_t4"])),
    ("count", "wider-scope", "scope", drop("scope", "within")),
    ("count", "scope-with-more-constraints", "scope", put("scope", "constraints", ["sea", "way", "day"])),
    ("count", "scope-with-fewer-constraints", "scope", put("scope", "constraints", ["way"])),
    ("dataset", "scope-without-constraints", "scope", put("scope", "constraints", [])),
    ("optimum", "outside-the-scope", "scope", put("scope", "within", "room", ["room_a1_1", "room_a2_2", "room_b1_2"])),
    ("evidence", "engine-found-better", "cheapest", put("evidence", 0, "value", 8999)),
    ("evidence", "engine-counted-otherwise", "cheapest", put("evidence", 0, "count", 9)),
    ("evidence", "engine-found-none", "cheapest", put("evidence", 0, {"engine": "scan", "parameters": {}, "status": "infeasible", "version": "1"})),
]  # fmt: skip


def sealed(content: Json) -> bytes:
    """A certificate's bytes with the digest of its content, whatever that says."""
    return canonical_bytes({**content, "digest": digest(content)})


# ------------------------------------------------------------------------------------------------ malformed


def malformed(made: dict[str, Json]) -> dict[str, bytes]:
    """Files that are no certificate, by what is wrong with them."""
    plain = sealed(made["cheapest"])
    gold = sealed(made["gold"])
    document = json.loads(plain)

    def changed(edit: Callable[[Json], None]) -> bytes:
        content = copy.deepcopy(made["cheapest"])
        edit(content)
        return sealed(content)

    return {
        "empty": b"",
        "not-json": b"status: solvable\n",
        "not-utf-8": plain.replace(b"tiny-cheapest", b"tiny-cheapes\xff"),
        "not-a-mapping": b"[1,2,3]\n",
        "another-format-of-file": b'{"picks":{"room":"room_a2_2"}}\n',
        "a-float": plain.replace(b'"value":9000', b'"value":9000.0'),
        "an-exponent": plain.replace(b'"value":9000', b'"value":9e3'),
        "nan": plain.replace(b'"value":9000', b'"value":NaN'),
        "infinity": plain.replace(b'"value":9000', b'"value":-Infinity'),
        "keys-in-another-order": json.dumps(dict(reversed(document.items())), separators=(",", ":")).encode() + b"\n",
        "spaces": json.dumps(document, sort_keys=True).encode() + b"\n",
        "indented": json.dumps(document, sort_keys=True, indent=1).encode() + b"\n",
        "no-line-end": plain[:-1],
        "two-line-ends": plain + b"\n",
        "byte-order-mark": b"\xef\xbb\xbf" + plain,
        "escaped-letters": plain.replace(b"tiny-cheapest", b"tin\\u0079-cheapest"),
        "minus-zero": plain.replace(b'"tied":1', b'"tied":-0'),
        "key-twice": plain.replace(b'"tied":1,', b'"tied":1,"tied":1,'),
        "cut-short": plain[: len(plain) // 2],
        "two-documents": plain + plain,
        "integer-of-2-to-the-53-as-a-number": gold.replace(
            b'"tied":1,"value":"585467951558164481"', b'"tied":1,"value":585467951558164481'
        ),
        "small-integer-as-a-string": changed(put("claims", "optimum", "value", "9000")),
        "integer-string-with-a-plus": sealed(made["gold"]).replace(b'"value":"58', b'"value":"+58'),
        "integer-string-with-zeros": changed(put("claims", "optimum", "value", "0585467951558164481")),
        "integer-string-with-underscores": changed(put("claims", "optimum", "value", "585_467_951_558_164_481")),
        "integer-string-that-is-none": changed(put("claims", "count", "at_least", "ten")),
        "integer-string-in-evidence": changed(put("evidence", 0, "value", "9000")),
        "string-of-5000-digits": changed(put("claims", "count", "at_most", "9" * 5000)),
        "truth-for-an-integer": changed(put("claims", "optimum", "tied", True)),
        "unknown-key": changed(put("note", "hello")),
        "unknown-claim": changed(put("claims", "beauty", {"grade": "proved", "value": 10})),
        "unknown-key-in-a-claim": changed(put("claims", "optimum", "price", 9000)),
        "unknown-grade": changed(put("claims", "optimum", "grade", "certain")),
        "unknown-status": changed(put("claims", "status", "value", "maybe")),
        "lacks-a-key": changed(drop("task")),
        "null-for-absent": changed(put("claims", "incumbent", None)),
        "short-form-of-picks": changed(put(*PICK, {"room": "room_a2_2", "train": "train_t6"})),
        "format-2": changed(put("cobench_certificate", 2)),
        "format-is-text": changed(put("cobench_certificate", "1")),
        "format-is-true": changed(put("cobench_certificate", True)),
        "pair-of-three": changed(put("claims", "distribution", "values", 0, [9000, 1, 1])),
        "digest-of-something-else": canonical_bytes({**made["cheapest"], "digest": DIGEST}),
        "digest-lacks": canonical_bytes(made["cheapest"]),
        "digest-in-capitals": canonical_bytes({**document, "digest": document["digest"].upper()}),
        "nested-too-deep": b'{"cobench_certificate":' + b"[" * 20_000 + b"]" * 20_000 + b"}\n",
    }


def main() -> None:
    """Writes everything."""
    write_tables(HERE / "world")
    for folder in ("valid", "invalid", "malformed"):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).iterdir():
            old.unlink()
    made = valid()
    for name, content in made.items():
        (HERE / "valid" / f"{name}.cert.json").write_bytes(sealed(content))
    for claim, wrong, base, edit in INVALID:
        content = copy.deepcopy(made[base])
        edit(content)
        (HERE / "invalid" / f"{claim}--{wrong}.cert.json").write_bytes(sealed(content))
    for name, content in malformed(made).items():
        (HERE / "malformed" / f"{name}.cert.json").write_bytes(content)


if __name__ == "__main__":
    main()
