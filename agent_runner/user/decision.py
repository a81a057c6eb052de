"""What a simulated user knows, hears and decides: facts without any wording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...schemas.canonical import digest
from ...schemas.task import Task
from ..metrics import goal_words


@dataclass(frozen=True, slots=True)
class Script:
    """All that a user may ever say about a task: who asks, what is to be best, and a line for each constraint.

    `initial`: the constraints of the first message; `later`: those to be revealed, in this order.
    """

    story: str
    goal: str
    lines: Mapping[str, str]
    initial: tuple[str, ...]
    later: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Another one for all that makes the user say something else; a task's own digest leaves wording out."""
        return digest([self.story, self.goal, dict(self.lines), self.initial, self.later])


@dataclass(frozen=True, slots=True)
class Heard:
    """What of an agent's reply the user goes by.

    `recommended`: a formal recommendation stands. Of its options the one counts that is best by the constraints
    *already revealed* and by nothing else: `unknown`: it is no offer for this trip. `broken`: those that it breaks.
    `misformed`: the reply had not the agreed form.
    """

    text: str
    recommended: bool = False
    unknown: bool = False
    broken: tuple[str, ...] = ()
    misformed: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What the next message must say, no more and no less: names of constraints, and flags.

    `opening`: the first message, with story, goal and initial constraints in `reveal`. `flag`: constraints that the
    recommendation breaks. `restate`: revealed ones that the agent asked about; `restate_goal` the same for the goal.
    `ask`: for a formal recommendation. `unknown`: the recommended offers do not exist. `recheck`: to look once more,
    with nothing new. `puzzled`: the agent asked something that the script does not answer.
    """

    reveal: tuple[str, ...] = ()
    flag: tuple[str, ...] = ()
    restate: tuple[str, ...] = ()
    opening: bool = False
    restate_goal: bool = False
    ask: bool = False
    unknown: bool = False
    recheck: bool = False
    puzzled: bool = False


def script_of(task: Task) -> Script:
    """The script of a task; constraints without a line, and a task without a goal, are told as they are written."""
    specs = {name: task.constraint(name) for name in task.constraints}
    sense, text = task.objective
    return Script(
        story=task.story or task.title,
        goal=task.goal or goal_words(sense, text),
        lines={name: spec.say or f"This must hold: {spec.require}" for name, spec in specs.items()},
        initial=tuple(name for name, spec in specs.items() if spec.reveal == "initial"),
        later=tuple(name for name, spec in specs.items() if spec.reveal == "later"),
    )
