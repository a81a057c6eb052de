"""`cobench check`: replay certificates from the task and the Parquet files alone."""

from __future__ import annotations

import json
from pathlib import Path

import rich_click as click

from ..schemas.errors import CertificateError, CobenchError, Where
from .common import error_texts, find_files, print_json, progress, say, worst

BINDING = ("task", "dataset", "objective", "scope")


@click.command()
@click.argument("certificates", nargs=-1, required=True, metavar="CERT...")
@click.option(
    "--task",
    type=click.Path(path_type=Path),
    help="The task file, instead of the one in the run file beside the certificate.",
)
@click.option("--data", metavar="DATASET", help="The dataset, instead of the one in the run file.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per certificate on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def check(certificates: tuple[str, ...], task: Path | None, data: str | None, as_json: bool, quiet: bool) -> int:
    """Recompute the claims of certificates, using no solver and nothing that made them.

    CERT is a certificate, a folder of them, or a glob. Exit code 2: malformed, altered, or about another task or other
    data; 4: a claim is wrong; 3: nothing is wrong, but a claim is too large to be recomputed.

    \b
    cobench check certificates
    cobench check x.cert.json --task task.yaml --data parks
    """
    files = find_files(certificates, (".cert.json",), "certificates (*.cert.json)")
    codes: list[int] = []
    for number, path in enumerate(files, 1):
        place = f"{number}/{len(files)} " if len(files) > 1 else ""
        try:
            with progress(quiet) as shown:
                shown.begin(f"{place}{path.name}: checking")
                wrong, open_claims, grades = _check(path, task, data)
        except CobenchError as fault:
            codes.append(fault.exit_code)
            if as_json:
                errors = error_texts(fault)
                print_json({"certificate": str(path), "accepted": False, "exit": fault.exit_code, "errors": errors})
            else:
                say(str(fault), err=True)
            continue
        code = 3 if open_claims else 0
        if wrong:
            code = 2 if any(claim in BINDING for claim, _ in wrong) else 4
        codes.append(code)
        if as_json:
            refuted = [f"{claim}: {detail}" for claim, detail in wrong]
            found = {"certificate": str(path), "accepted": code == 0, "exit": code, "refuted": refuted}
            print_json({**found, "not_recomputed": [claim for claim, _ in open_claims], "grades": grades})
        else:
            said = ", ".join(f"{claim} {grade}" for claim, grade in grades.items())
            word = "refused" if wrong else "not recomputed" if open_claims else "accepted"
            say(f"{path}: {word}" + ("" if wrong else f" ({said})"))
            for claim, detail in wrong or open_claims:
                say(f"  {claim}: {detail}")
    return worst(codes)


_Said = list[tuple[str, str]]


def _check(path: Path, task: Path | None, data: str | None) -> tuple[_Said, _Said, dict[str, str]]:
    """What is wrong with a certificate and what could not be recomputed, as (claim, detail), and the grades it states.

    The evidence in it is only its author's word, so nothing is accepted for that alone.
    """
    from ..schemas.certificate import read_certificate
    from ..schemas.problem import pose
    from ..schemas.task import load_task
    from ..solver.checker.replay import wrong_grades
    from ..verification import data_of, replay

    certificate = read_certificate(_read(path), str(path))
    run = _run_file(path) if task is None or data is None else {}
    file = load_task(task or Path(_known(run, "task", path)))
    dataset = data_of(file, data or (run.get("data") if task is None else None))
    report = replay(pose(file, dataset.manifest), dataset, certificate)
    wrong = [(finding.claim, finding.detail) for finding in report.refuted]
    if not wrong:
        wrong = [(finding.claim, finding.detail) for finding in wrong_grades(certificate, report)]
    left = [(item.claim, item.detail) for item in report.findings if item.state == "not recomputed"]
    undecided = left if certificate.claims.status.value != "unknown" else []
    return wrong, undecided, {name: grade.value for name, grade in certificate.claims.graded().items()}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise CertificateError(f"cannot read the certificate: {fault.strerror}", where=Where(str(path))) from None


def _run_file(path: Path) -> dict[str, str]:
    """The paths that were noted when the certificate was made; empty when there is no such note."""
    beside = path.with_name(path.name.removesuffix(".cert.json") + ".run.json")
    try:
        value = json.loads(beside.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return {key: item for key, item in value.items() if isinstance(item, str)} if isinstance(value, dict) else {}


def _known(run: dict[str, str], what: str, path: Path) -> str:
    if what not in run:
        raise CertificateError(
            "there is no run file beside the certificate that says where the task is",
            where=Where(str(path)),
            hint="give --task (and --data)",
        )
    return run[what]
