"""Certificates that hold are accepted; whatever is changed in one, it is refused: committed files, then mutations.

The files below `certificates/` are written by `certificates/make.py`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import cobench
import pytest
from cobench.cli import run
from cobench.datasets.opening import Dataset
from cobench.schemas.canonical import canonical_bytes, digest
from cobench.schemas.problem import Problem, pose
from cobench.solver.checker import check
from cobench.solver.checker import replay as checker
from cobench.verification import replay

HERE = Path(__file__).resolve().parent / "certificates"
PARKS = Path(cobench.__file__).resolve().parent / "tasks" / "parks"
VALID, INVALID, MALFORMED = (sorted((HERE / kind).glob("*.cert.json")) for kind in ("valid", "invalid", "malformed"))

Steps = tuple[str | int, ...]


def name_of(path: Path) -> str:
    return path.name.removesuffix(".cert.json")


@dataclass(frozen=True)
class Judge:
    """Says what is wrong with a certificate about one problem; the truth is computed once for each scope."""

    problem: Problem
    dataset: Dataset
    data: check.Data

    def refused(self, content: bytes) -> list[str]:
        """The claims that are refused, "malformed" for what cannot be read; empty for a certificate that holds."""
        try:
            certificate = cobench.read_certificate(content, "a.cert.json")
        except cobench.InputError:
            return ["malformed"]
        manifest = self.dataset.manifest
        report = checker.replay(
            self.problem, self.data, certificate, dataset=manifest.manifest.name, manifest_digest=manifest.digest()
        )
        return [finding.claim for finding in (*report.refuted, *checker.wrong_grades(certificate, report))]


def judge(task: Path) -> Judge:
    file = cobench.load_task(task)
    dataset = cobench.open_dataset(file.task.dataset, task.parent)
    problem = pose(file, dataset.manifest)
    return Judge(problem, dataset, check.open_data(dataset.folder, problem))


@cache
def judge_of_tiny(task: str) -> Judge:
    found = HERE / "tasks" / f"{task.removeprefix('tiny-')}.yaml"
    return judge(found if found.exists() else HERE / "tasks" / "cheapest.yaml")


@pytest.mark.parametrize("path", VALID, ids=name_of)
def test_a_valid_certificate_is_accepted(path: Path) -> None:
    content = path.read_bytes()
    certificate = cobench.read_certificate(content, str(path))
    assert certificate.to_bytes() == content
    assert judge_of_tiny(certificate.task.id).refused(content) == []


@pytest.mark.parametrize("name", ["cheapest", "wishes", "nowhere", "gold"])
def test_what_verify_claims_is_what_is_committed(name: str) -> None:
    """When this fails after a deliberate change of the format, run certificates/make.py."""
    path = HERE / "valid" / f"{name}.cert.json"
    old = cobench.read_certificate(path.read_bytes(), str(path))
    new = cobench.verify(HERE / "tasks" / f"{name}.yaml", engines="scan").certificate
    assert new.claims == old.claims
    assert (new.task, new.dataset, new.objective, new.scope) == (old.task, old.dataset, old.objective, old.scope)


def test_the_valid_ones_are_of_all_kinds() -> None:
    found = {name_of(path): cobench.read_certificate(path.read_bytes(), path.name) for path in VALID}
    claims = {name: certificate.claims for name, certificate in found.items()}
    assert {claim.status.value for claim in claims.values()} == {"solvable", "unsolvable", "unknown"}
    assert {certificate.objective.sense for certificate in found.values()} == {"minimize", "maximize"}
    ties = claims["wishes"].optimum
    assert ties is not None
    assert ties.tied == 4
    gold = claims["gold"].optimum
    assert gold is not None
    assert gold.value == "585467951558164481"
    assert claims["incumbent"].incumbent is not None
    assert found["scope"].scope.constraints
    assert found["scope"].scope.within


def test_counts_by_hand() -> None:
    """The task `nowhere` without its budget: two villas by the sea, and the trains of their days."""
    task = HERE / "tasks" / "nowhere.yaml"
    file = cobench.load_task(task)
    made = cobench.certify(file, cobench.open_dataset(file.task.dataset, task.parent), constraints=["sea", "day"])
    assert made.claims.count is not None
    assert made.claims.count.at_least == made.claims.count.at_most == 4 + 3
    assert made.claims.optimum is not None
    assert made.claims.optimum.value == 39900 + 2 * 1500


@pytest.mark.parametrize("constraints", [["sea", "day"], ["way"], []], ids=["without-relation", "one", "none"])
def test_a_certificate_about_some_constraints_is_accepted(constraints: list[str]) -> None:
    """Even when the constraints that are left out are the only ones that use some relation."""
    found = judge_of_tiny("tiny-cheapest")
    file = cobench.load_task(HERE / "tasks" / "cheapest.yaml")
    made = cobench.certify(file, found.dataset, constraints=constraints)
    assert replay(found.problem, found.dataset, made).refuted == ()


@pytest.mark.parametrize("path", INVALID, ids=name_of)
def test_an_invalid_certificate_is_refuted(path: Path) -> None:
    """Its digest is right; what stands before the two dashes of its name is what is wrong."""
    certificate = json.loads(path.read_bytes())
    claim = path.name.partition("--")[0]
    refused = judge_of_tiny(certificate["task"]["id"]).refused(path.read_bytes())
    assert claim in refused or (claim == "scope" and refused == ["malformed"])


SAYS = {
    "empty": "not canonical JSON",
    "not-json": "not canonical JSON",
    "not-utf-8": "not canonical JSON",
    "not-a-mapping": "not a cobench certificate",
    "another-format-of-file": "not a cobench certificate",
    "a-float": "9000.0 is not an integer",
    "an-exponent": "9e3 is not an integer",
    "nan": "NaN is not an integer",
    "infinity": "-Infinity is not an integer",
    "keys-in-another-order": "not in canonical form",
    "spaces": "not in canonical form",
    "indented": "not in canonical form",
    "no-line-end": "not in canonical form",
    "two-line-ends": "not in canonical form",
    "byte-order-mark": "not canonical JSON",
    "escaped-letters": "not in canonical form",
    "minus-zero": "not in canonical form",
    "key-twice": "not in canonical form",
    "cut-short": "not canonical JSON",
    "two-documents": "not canonical JSON",
    "integer-of-2-to-the-53-as-a-number": "not in canonical form",
    "small-integer-as-a-string": "'9000' is not the canonical spelling",
    "integer-string-with-a-plus": "'+585467951558164481' is not the canonical spelling",
    "integer-string-with-zeros": "'0585467951558164481' is not the canonical spelling",
    "integer-string-with-underscores": "'585_467_951_558_164_481' is not the canonical spelling",
    "integer-string-that-is-none": "'ten'",
    "integer-string-in-evidence": "'9000' is not the canonical spelling",
    "string-of-5000-digits": "malformed certificate",
    "truth-for-an-integer": "claims.optimum.tied",
    "unknown-key": "note: ",
    "unknown-claim": "claims.beauty: ",
    "unknown-key-in-a-claim": "claims.optimum.price: ",
    "unknown-grade": "claims.optimum.grade: ",
    "unknown-status": "claims.status.value: ",
    "lacks-a-key": "task: ",
    "null-for-absent": "certificate",
    "short-form-of-picks": "certificate",
    "format-2": "certificate format 2, this version reads 1",
    "format-is-text": "certificate format",
    "format-is-true": "certificate",
    "pair-of-three": "claims.distribution.values.0",
    "digest-of-something-else": "the certificate was altered",
    "digest-lacks": "digest: ",
    "digest-in-capitals": "the certificate was altered",
    "nested-too-deep": "not canonical JSON",
}


@pytest.mark.parametrize("path", MALFORMED, ids=name_of)
def test_a_malformed_certificate_is_not_read(path: Path) -> None:
    with pytest.raises(cobench.InputError, match=re.escape(SAYS[name_of(path)])) as caught:
        cobench.read_certificate(path.read_bytes(), str(path))
    assert caught.value.where is not None
    assert caught.value.where.file == str(path)
    assert len(str(caught.value)) < 1000


def test_every_malformed_file_has_its_message() -> None:
    assert {name_of(path) for path in MALFORMED} == set(SAYS)


def test_a_huge_file_is_refused() -> None:
    plain = (HERE / "valid" / "cheapest.cert.json").read_bytes()
    longer = plain.replace(b'"values":[', b'"values":[' + b"[1,1]," * 200_000)
    for content in (longer, b" " * 2_000_000, b'{"cobench_certificate":' + b"9" * 100_000 + b"}\n"):
        with pytest.raises(cobench.InputError) as caught:
            cobench.read_certificate(content, "huge.cert.json")
        assert len(str(caught.value)) < 1000


def test_check_refuses_them_all_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`cobench check` on the folders: 0 for valid ones, 4 for a wrong claim, 2 for what is about something else."""
    expected: dict[str, int] = {}
    for path in (*VALID, *INVALID, *MALFORMED):
        if path.name.startswith("conflicts--"):  # these have a test of their own
            continue
        kind, claim = path.parent.name, path.name.partition("--")[0]
        target = tmp_path / f"{kind}-{path.name}"
        shutil.copy(path, target)
        about = kind == "malformed" or claim in ("task", "dataset", "objective", "scope")
        modest = path.name.partition("--")[2].startswith("proved-is-called-")  # says less than it might, and no lie
        expected[str(target)] = 0 if kind == "valid" or modest else 2 if about else 4
        task = re.search(rb'"id":"tiny-(cheapest|wishes|nowhere|gold)"', path.read_bytes())
        beside = {"task": str(HERE / "tasks" / f"{task[1].decode() if task else 'cheapest'}.yaml")}
        target.with_name(target.name.replace(".cert.", ".run.")).write_text(json.dumps(beside), encoding="utf-8")
    code = run(["check", str(tmp_path), "--json", "-q"])
    shown = capsys.readouterr()
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert {line["certificate"]: line["exit"] for line in lines} == expected
    assert all(line["accepted"] is (line["exit"] == 0) for line in lines)
    assert all(line.get("refuted") or line.get("errors") for line in lines if line["exit"])
    assert code == 2
    assert shown.err == ""


# ------------------------------------------------------------------------------------------------ mutations

WORDS = (
    ("proved", "agreed", "claimed"),
    ("solvable", "unsolvable", "unknown"),
    ("minimize", "maximize"),
    ("optimal", "feasible", "infeasible"),
)


def changed_leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Every change of one leaf: a name for it, and the new value."""
    if isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, int):
        yield "one more", value + 1
        yield "one less", value - 1
        yield "as text", str(value)
    elif re.fullmatch("-?[0-9]{16,}", value):
        yield "one more", str(int(value) + 1)
        yield "one less", str(int(value) - 1)
    else:
        for words in WORDS:
            yield from ((word, word) for word in words if value in words and word != value)
        yield "longer", value + "x"
        if value:
            yield "shorter", value[:-1]
            yield "last letter changed", value[:-1] + ("0" if value[-1] != "0" else "1")


def changed(value: Any, at: Steps = ()) -> Iterator[tuple[Steps, str, Any]]:
    """Every single change below a value: where, what, and the whole value after it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*at, key), "dropped", {other: kept for other, kept in value.items() if other != key}
            for where, what, new in changed(item, (*at, key)):
                yield where, what, {**value, key: new}
        yield at, "key added", {**value, "x": 1}
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield (*at, number), "removed", value[:number] + value[number + 1 :]
            yield (*at, number), "repeated", [*value[: number + 1], *value[number:]]
            if number and item != value[number - 1]:
                swapped = [*value[: number - 1], item, value[number - 1], *value[number + 1 :]]
                yield (*at, number), "swapped", swapped
            for where, what, new in changed(item, (*at, number)):
                yield where, what, [*value[:number], new, *value[number + 1 :]]
    else:
        for what, new in changed_leaves(value):
            yield at, what, new


@pytest.fixture(scope="module")
def certificates() -> Mapping[str, tuple[Judge, Any]]:
    """The committed certificates and some of real tasks, each with its judge."""
    found: dict[str, tuple[Judge, Any]] = {}
    for path in VALID:
        content = json.loads(path.read_bytes())
        found[name_of(path)] = (judge_of_tiny(content["task"]["id"]), content)
    tasks = sorted(PARKS.glob("*.yaml"))
    texts = {task: task.read_text(encoding="utf-8") for task in tasks}
    picked = [next(task for task in tasks if task.name.startswith("parks-1-") and "\nminimize:" in texts[task])]
    picked += [next(task for task in tasks if task.name.startswith("parks-2-") and "\nmaximize: count" in texts[task])]
    picked += [next(task for task in tasks if "\nexpect: unsolvable" in texts[task])]
    for task in picked:
        result = cobench.verify(task, engines="scan")
        assert not result.refuted
        found[task.stem] = (judge(task), json.loads(result.certificate.to_bytes()))
    return found


def test_an_altered_certificate_is_not_read(certificates: Mapping[str, tuple[Judge, Any]]) -> None:
    """Each mutation of each certificate, its digest among them, with the digest left as it is."""
    count = 0
    for name, (_, content) in certificates.items():
        original = canonical_bytes(content)
        cobench.read_certificate(original, name)
        for where, what, new in changed(content):
            altered = canonical_bytes(new)
            assert altered != original, (name, where, what)
            with pytest.raises(cobench.InputError):
                pytest.fail(f"{name}: {where} {what}: {cobench.read_certificate(altered, name).digest}")
            count += 1
    print(f"{count} altered certificates refused")  # noqa: T201
    assert count >= 2400


# What may be changed, because it makes a claim weaker and leaves it true.
WEAKER = {
    ("incumbent", ("claims", "count", "at_least"), "one less"),
    ("incumbent", ("claims", "count", "at_most"), "one more"),
    ("incumbent", ("claims", "count", "at_least"), "one more"),  # 3 of 10 plans: still below
    ("incumbent", ("claims", "count", "at_most"), "one less"),  # 42 for 10 plans: still above
    ("incumbent", ("claims", "incumbent", "bound"), "one less"),
    ("incumbent", ("claims", "incumbent", "bound"), "one more"),  # $80.01 for an optimum of $90.00: still below
    ("unknown", ("claims", "count", "at_most"), "one more"),
    ("unknown", ("claims", "count", "at_most"), "one less"),
}


def may_be_left_out(where: Steps, what: str, content: Any) -> bool:
    """Claiming less is no lie: conflicts, a distribution, and a count that no distribution rests on, may be absent."""
    claims = content["claims"]
    left_out = {("claims", "distribution"), ("claims", "conflicts")}
    left_out |= {("claims", "count")} if "distribution" not in claims else set()
    complete = (where, what) == (("claims", "conflicts", "complete"), "flipped") and claims["conflicts"]["complete"]
    return (what == "dropped" and where in left_out) or complete


@pytest.fixture
def truth_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker recomputes the truth once for each problem and scope: it does not depend on what is claimed."""
    recompute, known = checker.recompute, dict[Any, Any]()

    def once(problem: Problem, data: check.Data, within: Any = None, work_limit: int = checker.WORK_LIMIT) -> Any:
        names = tuple(item.name for item in problem.constraints)
        key = (id(data), names, json.dumps(within, sort_keys=True), work_limit)
        if key not in known:
            known[key] = recompute(problem, data, within, work_limit)
        return known[key]

    monkeypatch.setattr(checker, "recompute", once)


@dataclass
class Tally:
    """How many changed certificates were refused, how many claim less than before, and which are accepted anyway."""

    refused: int = 0
    weaker: int = 0
    accepted: list[str] = field(default_factory=list[str])


def tally(certificates: Mapping[str, tuple[Judge, Any]], parts: Mapping[str, Collection[str]]) -> Tally:
    """Judges every single change below the given keys of the given parts, sealed again with a digest that fits."""
    found = Tally()
    for name, (judged, content) in certificates.items():
        for part, keys in parts.items():
            for where, what, new in changed(content[part], (part,)):
                if len(where) > 1 and where[1] not in (keys or where):
                    continue
                altered = {**content, part: new}
                del altered["digest"]
                sealed = canonical_bytes({**altered, "digest": digest(altered)})
                if judged.refused(sealed):
                    found.refused += 1
                elif (name, where, what) in WEAKER or may_be_left_out(where, what, content):
                    found.weaker += 1
                else:
                    found.accepted.append(f"{name}: {'.'.join(map(str, where))} {what}")
    print(f"{found.refused} wrong certificates refused, {found.weaker} that claim less accepted")  # noqa: T201
    return found


@pytest.mark.usefixtures("truth_once")
def test_a_wrong_certificate_with_a_right_digest_is_refused(certificates: Mapping[str, tuple[Judge, Any]]) -> None:
    """Each mutation of what is claimed, and of what it is claimed about: read and replayed."""
    claims = ("status", "optimum", "incumbent", "count", "distribution")
    found = tally(certificates, {"claims": claims, "task": (), "dataset": (), "objective": (), "scope": ()})
    assert not found.accepted, "\n".join(found.accepted)
    assert found.refused >= 1850


@pytest.mark.usefixtures("truth_once")
def test_wrong_conflicts_with_a_right_digest_are_refused(certificates: Mapping[str, tuple[Judge, Any]]) -> None:
    """Each mutation of what is said about why there is no plan, and what would help."""
    found = tally(certificates, {"claims": ("conflicts",)})
    assert not found.accepted, "\n".join(found.accepted)
    assert found.refused >= 200
