"""A suite of three bundled tasks, one of each level, certified by the scan: what conversations are tested on."""

from __future__ import annotations

import shutil
from pathlib import Path

from cobench.agent_runner.env import Env, EnvLimits
from cobench.agent_runner.suites import Case, open_suite
from cobench.agent_runner.tools.catalogue import Catalogue, catalogue_of
from cobench.agent_runner.tools.toolbox import Toolbox
from cobench.schemas.episode import Persona
from cobench.schemas.suite import SuiteFile
from cobench.verification import verify

TASKS = Path(__file__).resolve().parent.parent / "tasks" / "parks"
NAMES = ("parks-1-01-southwest-fixed-dates", "parks-2-01-zion-weekend", "parks-3-01-angels-landing")
HOTEL, FLIGHT, PERMIT = NAMES
CONTENT = Persona(revelation="fast", trust="trusting", checking="unreliable", style=9, permille=1000)


def write_suite(folder: Path) -> Path:
    """The suite in a folder of its own."""
    for part in ("tasks", "certificates"):
        (folder / part).mkdir(parents=True)
    for name in NAMES:
        shutil.copy(TASKS / f"{name}.yaml", folder / "tasks")
        certificate = verify(TASKS / f"{name}.yaml", engines="scan", survivors=False).certificate
        (folder / "certificates" / f"{name}.cert.json").write_bytes(certificate.to_bytes())
    facts = SuiteFile(name="small", version="1", seed=0, tasks=NAMES, sample=NAMES[1:])
    (folder / "tasks.json").write_bytes(facts.to_bytes())
    return folder


class Cases:
    """The cases of a suite, opened once, and new conversations about them."""

    def __init__(self, folder: Path) -> None:
        suite = open_suite(str(folder))
        self.cases: dict[str, Case] = {name: suite.case(name) for name in NAMES}
        self.catalogue: Catalogue = catalogue_of(self.cases[HOTEL].dataset)

    def env(self, task: str = HOTEL, persona: Persona = CONTENT, limits: EnvLimits | None = None) -> Env:
        """A conversation that begins."""
        return Env(self.cases[task], Toolbox(self.catalogue), persona, agent="tested", seed=7, limits=limits)

    def best(self, task: str) -> dict[str, str]:
        """The ids of the best plan, by choice."""
        claim = self.cases[task].certificate.claims.optimum
        assert claim is not None
        return {choice: picks[0].id for choice, picks in claim.plan.picks.items()}
