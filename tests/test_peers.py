"""Bug reports of others that must not become ours. Each test has the name of its rule; the link says what happened.

Rules that are kept elsewhere: `test_no_values_without_solution` and `test_overflow_names_the_constraint` for models in
test_model.py, `test_null_prices_refused`, `test_ids_unicode_and_duplicates` and `test_local_date_vs_utc_date` in
test_tables.py.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cobench.agent_runner.scoring import score
from cobench.datasets.opening import Dataset, open_dataset
from cobench.schemas.canonical import canonical_bytes
from cobench.schemas.certificate import Certificate, read_certificate
from cobench.schemas.errors import CertificateError, OverflowRisk
from cobench.schemas.plan import Plan
from cobench.schemas.problem import Problem, pose
from cobench.schemas.task import parse_task
from cobench.schemas.verdict import Standing, VerdictKind
from cobench.solver.certify import certify
from cobench.solver.checker import check
from cobench.solver.lower import lower
from cobench.solver.outcome import Limits
from cobench.solver.rank import in_top, scan_standing, standing

from .oracle import truth
from .worlds import Sheet, World

HEAD = "cobench: 1\nid: t\ndataset: .\nchoose:\n  stay: stays\n  trip: trips\n"
STAYS: list[tuple[Any, ...]] = [("a", 100, 8), ("b", 100, 9), ("c", 250, 8), ("d", 300, 9)]
TRIPS: list[tuple[Any, ...]] = [("x", 50, 8), ("y", 50, 9), ("z", 200, 9)]


@dataclass(frozen=True)
class Opened:
    """A dataset of stays and trips with prices in cents and dates in March 2025, when clocks change."""

    folder: Path
    data: Dataset

    def problem(self, task: str) -> Problem:
        return pose(parse_task(task), self.data.manifest)

    def certify(self, task: str, **options: Any) -> Certificate:
        return certify(parse_task(task), self.data, **options)


def opened(folder: Path, stays: list[tuple[Any, ...]] = STAYS, trips: list[tuple[Any, ...]] = TRIPS) -> Opened:
    lines = ["cobench_dataset: 1", "name: w", "tables:"]
    files: dict[str, Sheet] = {}
    for name, rows in (("stays", stays), ("trips", trips)):
        lines += [f"  {name}:", f"    file: {name}.parquet", "    key: [code]", "    id: '{code}'", "    columns:"]
        lines += [
            "      code: {type: string}",
            "      price: {type: number, unit: USD, digits: 2}",
            "      day: {type: date}",
        ]
        dated = [(code, price, datetime.date(2025, 3, day)) for code, price, day in rows]
        files[f"{name}.parquet"] = Sheet({"code": "string", "price": "number", "day": "date"}, dated)
    World("\n".join(lines) + "\n", files).write(folder)
    return Opened(folder, open_dataset(str(folder)))


CHEAP = HEAD + "constraints:\n  day: stay.day == trip.day\nminimize: stay.price + trip.price\n"


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_count_agrees_with_bruteforce(tmp_path: Path, sense: str) -> None:
    """https://github.com/google/or-tools/issues/4640: enumeration lost and repeated solutions."""
    at = opened(tmp_path)
    budget = HEAD + f"constraints:\n  budget: stay.price + trip.price <= 3\n{sense}: stay.price - trip.price\n"
    for task in (CHEAP, budget):
        claims = at.certify(task).claims
        assert claims.count is not None
        assert claims.count.at_least == claims.count.at_most == truth(task, tmp_path).count


def test_no_values_without_solution(tmp_path: Path) -> None:
    """Measured on CP-SAT 9.15: values read after INFEASIBLE are garbage. Here there is none to read, and no time to."""
    at = opened(tmp_path)
    unsolvable = HEAD + "constraints:\n  free: stay.price + trip.price <= 1\nminimize: stay.price\n"
    for certificate in (at.certify(unsolvable), at.certify(CHEAP, limits=Limits(work=0))):
        assert certificate.claims.status.value != "solvable"
        assert certificate.claims.optimum is certificate.claims.incumbent is certificate.claims.distribution is None
        assert standing(certificate, 0) is None
    assert at.certify(unsolvable).evidence[0].value is None


def test_certificate_bytes_are_stable(tmp_path: Path) -> None:
    """https://github.com/google/or-tools/issues/4458: another answer in every run. Hash seeds differ, too."""
    opened(tmp_path, [*STAYS, ("é", 100, 8)], [*TRIPS, ("Z", 50, 8)])
    (tmp_path / "task.yaml").write_text(CHEAP, encoding="utf-8")
    code = (
        "import sys\nfrom pathlib import Path\nfrom cobench.datasets.opening import open_dataset\n"
        "from cobench.schemas.task import load_task\nfrom cobench.solver.certify import certify\n"
        "folder = Path(sys.argv[1])\n"
        "task, data = load_task(folder / 'task.yaml'), open_dataset(str(folder))\n"
        "certificate = certify(task, data, within={'stay': ['c', 'b']})\n"
        "sys.stdout.buffer.write(certificate.to_bytes())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("0", "1", "20251129")
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert read_certificate(outputs[0], "it").claims.optimum is not None


def test_overflow_names_the_constraint(tmp_path: Path) -> None:
    """https://github.com/google/or-tools/issues/2174: scaling overflowed, and the message named nothing."""
    at = opened(tmp_path, [("a", 2**62, 8)], [("x", 2**62 - 1, 8)])
    task = HEAD + "constraints:\n  budget: stay.price + trip.price <= 1\nminimize: count(stay.price > 0)\n"
    with pytest.raises(OverflowRisk, match=f"budget ranges from .* to {2**63 - 1 - 100}"):
        at.certify(task)
    with pytest.raises(OverflowRisk, match=r"'3 \* stay.price' ranges"):
        at.certify(HEAD + "minimize: 3 * stay.price\n")


def test_empty_table_is_infeasible_by_name(tmp_path: Path) -> None:
    """https://github.com/PyPSA/linopy/issues/517: what cannot hold was dropped, and the rest was optimal."""
    from cobench.solver import certify as certifying  # noqa: PLC0415  the module, beside its function

    at = opened(tmp_path, trips=[])
    certificate = at.certify(CHEAP)
    assert certificate.claims.status.value == "unsolvable"
    survivors = certifying.survivors_of(lower(at.problem(CHEAP), at.data))
    assert [(item.choice, item.offers) for item in survivors] == [("stay", 4), ("trip", 0)]


def test_constant_constraints_are_decided(tmp_path: Path) -> None:
    """https://github.com/PyPSA/linopy/issues/517, the other half: a constraint that is false is not ignored."""
    at = opened(tmp_path)
    for text, status in (("'false'", "unsolvable"), ("'true'", "solvable"), ("not true or false", "unsolvable")):
        task = HEAD + f"constraints:\n  c: {text}\nminimize: stay.price\n"
        assert at.certify(task).claims.status.value == status
        assert bool(truth(task, tmp_path).count) == (status == "solvable")


def test_rank_with_ties(tmp_path: Path) -> None:
    """https://github.com/coin-or/python-mip/issues/18: how many optima are there? Ties share the better rank."""
    at = opened(tmp_path)
    certificate = at.certify(CHEAP)
    ranks = [(value, count) for value, count in truth(CHEAP, tmp_path).distribution]
    assert ranks == [(Fraction("1.5"), 2), (3, 2), (Fraction("3.5"), 1), (5, 1)]
    wanted = {
        150: Standing(better=0, tied=2, worse=4, total=6),
        300: Standing(better=2, tied=2, worse=2, total=6),
        500: Standing(better=5, tied=1, worse=0, total=6),
        151: Standing(better=2, tied=0, worse=4, total=6),
    }
    for value, place in wanted.items():
        assert standing(certificate, value) == place
        assert scan_standing(at.problem(CHEAP), at.data, certificate, value) == place
    assert in_top(wanted[150], 1)
    assert in_top(wanted[300], 34)
    assert not in_top(wanted[300], 33)  # 2 of 6 are better, which is more than 33 %


def test_any_optimum_scores_one(tmp_path: Path) -> None:
    """https://github.com/google-deepmind/natural-plan/issues/1: two valid plans, and the grader accepted one."""
    at = opened(tmp_path)
    certificate, problem = at.certify(CHEAP), at.problem(CHEAP)
    data = check.open_data(tmp_path, problem)
    found = truth(CHEAP, tmp_path)
    assert found.best == [("a", "x"), ("b", "y")]
    for stay, trip in found.best:
        verdict = score(Plan.of({"stay": stay, "trip": trip}), problem, data, certificate)
        assert (verdict.kind, verdict.gap) == (VerdictKind.OPTIMAL, 0)
        assert verdict.standing == Standing(better=0, tied=2, worse=4, total=6)


@pytest.mark.parametrize("zone", ["America/Denver", "Europe/Berlin", "Pacific/Apia", "UTC"])
def test_nights_across_dst(tmp_path: Path, zone: str) -> None:
    """https://github.com/benitolopez/hotel-datepicker/issues/180: two nights for one when clocks change (9 March)."""
    at = opened(tmp_path, [("a", 1, 8)], [("x", 1, 9), ("y", 1, 10), ("z", 1, 31)])
    task = (
        HEAD
        + "constraints:\n  one: days_between(stay.day, trip.day) == 1\n"
        + '  sat: weekday(stay.day) == "sat"\nminimize: stay.price\n'
    )
    code = (
        "import sys\nfrom cobench.datasets.opening import open_dataset\n"
        "from cobench.schemas.task import parse_task\nfrom cobench.solver.certify import certify\n"
        "certificate = certify(parse_task(sys.argv[2]), open_dataset(sys.argv[1]))\n"
        "print(certificate.claims.optimum.plan.picks['trip'][0].id, certificate.claims.count.at_most)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(at.folder), task],
        env={**os.environ, "TZ": zone},
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["x", "1"]
    assert truth(task, tmp_path).canonical == {"stay": "a", "trip": "x"}


@pytest.mark.parametrize(
    "change", [{"cobench_certificate": 0}, {"cobench_certificate": 2}, {"cobench_certificate": "1"}]
)
def test_old_certificate_is_refused_or_read(tmp_path: Path, change: dict[str, Any]) -> None:
    """https://github.com/google/or-tools/issues/5003: answers change between versions, so a document says its own."""
    content = opened(tmp_path).certify(CHEAP)
    assert read_certificate(content.to_bytes(), "now") == content
    older = content.model_copy(update={"version": "0.0.1"}).sealed()
    assert read_certificate(older.to_bytes(), "older").version == "0.0.1"
    with pytest.raises(CertificateError, match=r"certificate format ., this version reads 1"):
        read_certificate(canonical_bytes({**content.content(), "digest": content.digest, **change}), "other")


@pytest.mark.parametrize("limits", [Limits(seconds=0.0), Limits(work=0), Limits(work=5), Limits(work=12)], ids=str)
def test_timeout_is_never_optimal(tmp_path: Path, limits: Limits) -> None:
    """https://github.com/coin-or/pulp/issues/876: a time-out was reported Optimal, even without any solution."""
    claims = opened(tmp_path).certify(CHEAP, limits=limits).claims
    wanted = truth(CHEAP, tmp_path)
    assert claims.count is not None
    assert int(claims.count.at_least) <= wanted.count <= int(claims.count.at_most)
    if claims.optimum is None:
        assert claims.incumbent is not None or (claims.status.value, claims.status.reason is None) == ("unknown", False)
        assert claims.distribution is None
    else:  # the limit was enough for the proof
        assert claims.optimum.value == wanted.optimum * 100
    if limits.work == 0 or limits.seconds == 0.0:
        assert claims.status.value == "unknown"
