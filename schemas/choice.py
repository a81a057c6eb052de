"""How a task writes a decision: one row, a set of rows, or a route through rows in order and in time."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, model_validator

from .manifest import Name
from .validation import Written


class Least(Written):
    """A length of time that may be longer."""

    at_least: str | int


class Ways(Written):
    """Where a row begins and where it ends, as a flight does."""

    origin: str = Field(alias="from")
    destination: str = Field(alias="to")


class Start(Written):
    """Where and when a route sets out; without a place it may begin anywhere."""

    at: str | int | None = None
    time: str | int | None = None


class End(Written):
    """Where a route ends, at the latest `by` and not before `from`."""

    at: str | int | None = None
    by: str | int | None = None
    earliest: str | int | None = Field(default=None, alias="from")


class Wait(Written):
    """How long to wait at most between arriving somewhere and what happens there."""

    at_most: int = Field(ge=0)


_ROUTE_ONLY = ("at", "opens", "closes", "lasts", "travel", "start", "end", "wait", "first", "last")


class ChoiceSpec(Written):
    """A decision in its long form: one of `one`, `any_of` and `route`, each an offer table."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["one"]}, {"required": ["any_of"]}, {"required": ["route"]}]}
    )

    one: Name | None = Field(default=None, description="Exactly one row of this offer table.")
    any_of: Name | None = Field(default=None, description="A set of rows of this offer table.")
    route: Name | None = Field(default=None, description="Rows of this offer table, visited in an order and in time.")
    where: str | None = Field(
        default=None, description="A condition on a row: only rows that satisfy it can be picked."
    )
    at_least: int | None = Field(default=None, ge=0, description="The least number of rows; 0 if not given.")
    at_most: int | None = Field(default=None, ge=0, description="The greatest number of rows; all if not given.")
    per: Name | None = Field(default=None, description="The numbers hold for each value of this column on its own.")
    at: str | Ways | None = Field(
        default=None, description="Where a visit takes place, or the places it leads from and to."
    )
    opens: str | int | None = Field(default=None, description="A visit does not begin before.")
    closes: str | int | None = Field(default=None, description="A visit does not end after.")
    lasts: str | int | Least | None = Field(default=None, description="How long a visit takes, exactly or at least.")
    travel: Name | None = Field(
        default=None,
        description="The relation of two places that gives the time between them, or says that there is a way.",
    )
    start: Start | None = None
    end: End | None = None
    wait: Wait | None = None
    first: str | None = Field(default=None, description="A condition on the row that is visited first.")
    last: str | None = Field(default=None, description="A condition on the row that is visited last.")

    @model_validator(mode="after")
    def _consistent(self) -> ChoiceSpec:
        kinds = [name for name in ("one", "any_of", "route") if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError("a choice has exactly one of one, any_of and route")
        others = {"one": ("at_least", "at_most", "per", *_ROUTE_ONLY), "any_of": _ROUTE_ONLY, "route": ("per",)}
        alien = next((name for name in others[kinds[0]] if getattr(self, name) is not None), None)
        if alien:
            raise ValueError(f"'{alien}' does not go with {kinds[0]}")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least} is more than at_most {self.at_most}")
        return self

    @property
    def table(self) -> str:
        """The offer table."""
        return self.one or self.any_of or self.route or ""

    def facts(self) -> dict[str, Any]:
        """What is written, for the digest of a task."""
        return self.model_dump(exclude_none=True, by_alias=True)
