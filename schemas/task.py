"""A task file: what to choose, subject to what, optimising what; and what the author expects of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from .canonical import digest
from .choice import ChoiceSpec
from .errors import ExpressionError, TaskError, raise_all
from .manifest import Name
from .source import Source, load_source, parse_source
from .syntax import ExpressionText, parse
from .validation import Written, validate

MAX_CONSTRAINTS = 64
MAX_CHOICES = 64

# A decimal in YAML is a number for other readers, which know no exact ones; here its text is read.
_WRITTEN_NUMBER = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]})


class ConstraintSpec(Written):
    """A named constraint; `reveal` and `say` are for the conversation in which an agent learns of it."""

    require: str = Field(description="The condition.")
    reveal: Literal["initial", "later"] = Field(
        default="initial", description="Whether the agent is told at once or only in the course of the conversation."
    )
    say: str = Field(default="", description="The words in which it is told.")


class Expectation(Written):
    """The optimum (in major units, such as 1234.50) and the number of feasible plans that the author expects."""

    optimum: Annotated[int | str | None, _WRITTEN_NUMBER] = None
    count: int | None = Field(None, ge=0)


class Task(Written):
    """A task as written. Exactly one of `minimize` and `maximize` is given."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["minimize"]}, {"required": ["maximize"]}]})

    cobench: Literal[1] = Field(description="The version of the task format.")
    id: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
        description="The name of the task, unique in its suite; certificates are named after it.",
    )
    title: str = Field("", description="One line for people.")
    story: str = Field("", description="Who asks, and why, in the first person: how a conversation about it begins.")
    dataset: str = Field(
        min_length=1,
        description="A bundled dataset such as `parks`, or the path of a folder with a dataset.yaml, relative to this "
        "file.",
    )
    given: dict[Name, int | str | bool] = Field(
        {}, description="A value for each parameter that the dataset declares, such as the number of guests."
    )
    choose: dict[Name, Name | ChoiceSpec] = Field(
        min_length=1,
        max_length=MAX_CHOICES,
        description="The decisions: a name, and the offer table from which exactly one row is chosen; in the long "
        "form also a set of rows, or a route.",
    )
    constraints: dict[Name, str | ConstraintSpec] = Field(
        {},
        max_length=MAX_CONSTRAINTS,
        description="Named conditions that a plan must satisfy. An unknown value never satisfies one.",
    )
    minimize: str | None = Field(
        None, description="The number to make small, such as `hotel.total_price + flight.total_price`."
    )
    maximize: str | None = Field(
        None,
        description="The number to make large, such as `hotel.review_score` or "
        "`count(hotel.has_pool, flight.is_direct)`.",
    )
    goal: str = Field("", description="The words in which an agent is told what to make small or large.")
    expect: Literal["unsolvable"] | Expectation | None = Field(
        None, description="What the author expects; verify says when it is otherwise."
    )

    @model_validator(mode="after")
    def _one_objective(self) -> Task:
        if (self.minimize is None) == (self.maximize is None):
            raise ValueError("a task has exactly one of minimize and maximize")
        return self

    @property
    def objective(self) -> tuple[Literal["minimize", "maximize"], str]:
        """The sense and the text of the objective."""
        if self.minimize is not None:
            return "minimize", self.minimize
        return "maximize", self.maximize or ""

    def choice(self, name: str) -> ChoiceSpec:
        """A choice, the short form expanded."""
        spec = self.choose[name]
        return ChoiceSpec(one=spec) if isinstance(spec, str) else spec

    def constraint(self, name: str) -> ConstraintSpec:
        """A constraint, the short form expanded."""
        spec = self.constraints[name]
        return ConstraintSpec(require=spec) if isinstance(spec, str) else spec


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A task with the source that gives its errors a place."""

    task: Task
    source: Source

    def text(self, *path: str) -> ExpressionText:
        """The expression at a path such as ("constraints", "budget"), with its place."""
        value: Any = self.source.data
        for step in path:
            value = value[step]
        if isinstance(value, dict):
            path, value = (*path, "require"), value["require"]
        return ExpressionText(value, self.source.where(path))

    def digest(self) -> str:
        """The digest of what decides feasible set and objective; not of wording, dataset and expectation."""
        sense, _ = self.task.objective
        return digest(
            {
                "cobench": self.task.cobench,
                "id": self.task.id,
                "given": self.task.given,
                "choose": [[name, self.task.choice(name).facts()] for name in self.task.choose],
                "constraints": [
                    [name, parse(self.text("constraints", name)).canonical(), self.task.constraint(name).reveal]
                    for name in self.task.constraints
                ],
                sense: parse(self.text(sense)).canonical(),
            }
        )


def load_task(path: Path) -> TaskFile:
    """The task at `path`; raises TaskError or ExpressionError (or InputErrors) with the places of all faults found."""
    return read_task(load_source(path, TaskError))


def parse_task(text: str, name: str = "task.yaml") -> TaskFile:
    """The task in `text`; `name` stands for the file in messages."""
    return read_task(parse_source(text, name, TaskError))


def read_task(source: Source) -> TaskFile:
    """The task in a parsed file; raises as `load_task` does."""
    file = TaskFile(validate(Task, source, TaskError), source)
    clash = next((name for name in file.task.given if name in file.task.choose), None)
    if clash:
        raise TaskError(f"'{clash}' is both a parameter and a choice", where=source.where(("choose", clash), key=True))
    faults: list[ExpressionError] = []
    for path in [*(("constraints", name) for name in file.task.constraints), (file.task.objective[0],)]:
        try:
            parse(file.text(*path))
        except ExpressionError as fault:
            faults.append(fault)
    raise_all(faults)
    return file
