"""Random small tasks with sets, routes, aggregates, `or` and `not` beside choices of one row, on random small data."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from .worlds import Sheet, World

TOWNS = ("Åre", "b", "x")
KINDS = ("inn", "hut")
MANIFEST = """cobench_dataset: 1
name: w
tables:
  items:
    file: items.parquet
    key: [code]
    id: i_{code}
    columns:
      code: {type: string}
      price: {type: number, unit: USD, digits: 2, nullable: true}
      n: {type: number}
      kind: {type: string, values: [inn, hut]}
      town: {type: string, nullable: true}
      day: {type: number, nullable: true}
      good: {type: bool, nullable: true}
      opens: {type: number, unit: min, nullable: true}
      closes: {type: number, unit: min}
      mins: {type: number, unit: min}
      goal: {type: string}
  hotels:
    file: hotels.parquet
    key: [name]
    id: "{name}"
    columns:
      name: {type: string}
      fee: {type: number, unit: USD, digits: 2, nullable: true}
      n: {type: number}
      kind: {type: string, values: [inn, hut]}
      town: {type: string, nullable: true}
      pool: {type: bool, nullable: true}
relations:
  walk:
    file: walk.parquet
    args: [a, b]
    value: mins
    columns:
      a: {type: string}
      b: {type: string}
      mins: {type: number, unit: min, nullable: true}
  near:
    file: near.parquet
    args: [a, b]
    columns:
      a: {type: string}
      b: {type: string}
"""


@dataclass(frozen=True)
class Case:
    """A dataset and a task on it."""

    world: World
    task: str


class Phrases:
    """Draws from a seed. `sets`, `tours`, `singles`: names of the choices by kind."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - test data
        self.sets: list[str] = []
        self.tours: dict[str, bool] = {}  # whether the route has a time of start
        self.singles: list[str] = []

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def maybe(self, item: Any, of: int = 4) -> Any:
        return None if self.random.randrange(of) == 0 else item

    # data

    def world(self) -> World:
        world = World(MANIFEST)
        items = [
            (code, self.maybe(self.pick(0, 150, 199, 300)), self.pick(-2, 0, 1, 2, 3), self.pick(*KINDS),
             self.maybe(self.pick(*TOWNS), 8), self.maybe(self.pick(1, 2), 6), self.maybe(self.pick(True, False)),
             self.maybe(self.pick(0, 5, 10, 30), 10), self.pick(20, 40, 60), self.pick(0, 5, 10), self.pick(*TOWNS))
            for code in self.random.sample(["a", "b", "é", "Z", "10"], self.random.randint(1, 4))
        ]  # fmt: skip
        hotels = [
            (name, self.maybe(self.pick(0, 150, 300)), self.pick(-1, 0, 2), self.pick(*KINDS),
             self.maybe(self.pick(*TOWNS), 6), self.maybe(self.pick(True, False), 5))
            for name in self.random.sample(["h1", "h2", "é"], self.random.randint(1, 3))
        ]  # fmt: skip
        types = (
            "string",
            "number",
            "number",
            "string",
            "string",
            "number",
            "bool",
            "number",
            "number",
            "number",
            "string",
        )
        names = ("code", "price", "n", "kind", "town", "day", "good", "opens", "closes", "mins", "goal")
        world.files["items.parquet"] = Sheet(dict(zip(names, types, strict=True)), items)
        types, names = (*types[:5], "bool"), ("name", "fee", "n", "kind", "town", "pool")
        world.files["hotels.parquet"] = Sheet(dict(zip(names, types, strict=True)), hotels)
        pairs = [(a, b) for a in TOWNS for b in TOWNS]
        walk = [(a, b, self.maybe(self.pick(0, 5, 20), 8)) for a, b in pairs if self.random.randrange(4)]
        world.files["walk.parquet"] = Sheet({"a": "string", "b": "string", "mins": "number"}, walk)
        near = [pair for pair in pairs if self.random.randrange(2)]
        world.files["near.parquet"] = Sheet({"a": "string", "b": "string"}, near)
        return world

    # choices

    def choose(self) -> list[str]:
        lines: list[str] = []
        kinds = self.pick(("set",), ("route",), ("set", "one"), ("route", "one"), ("one", "set", "one"), ("one", "one"))
        for number, kind in enumerate(kinds):
            name = f"c{number}"
            lines.append(f"  {name}:")
            if kind == "one":
                self.singles.append(name)
                lines.append("    one: hotels")
            elif kind == "set":
                self.sets.append(name)
                lines.append("    any_of: items")
                lines += ["    per: " + self.pick("day", "kind")] if self.random.randrange(3) == 0 else []
            else:
                lines += self.route(name)
            lines += ["    where: n >= 0"] if self.random.randrange(4) == 0 else []
            if kind != "one":
                least = self.pick(0, 0, 1, 2)
                lines += [f"    at_least: {least}"] if least else []
                lines += [f"    at_most: {least + self.pick(0, 1, 2)}"] if self.random.randrange(2) else []
        return lines

    def route(self, name: str) -> list[str]:
        begins = self.random.randrange(3) > 0
        self.sets.append(name)
        lines = ["    route: items", "    opens: opens"]
        lines += ["    closes: closes"] if self.random.randrange(2) else []
        lines += self.pick([], ["    lasts: mins"], ["    lasts: {at_least: mins}"], ["    lasts: 5"])
        places = self.random.randrange(3) > 0
        if places:
            lines += ["    at: town"] if self.random.randrange(2) else ["    at: {from: town, to: goal}"]
            lines += self.pick([], ["    travel: walk"], ["    travel: walk"], ["    travel: near"])
        start = [f"at: {self.pick('b', 'x')}"] if places and self.random.randrange(2) else []
        start += ["time: " + str(self.pick(0, 5))] if begins else []
        lines += ["    start: {" + ", ".join(start) + "}"] if start else []
        end = [f"at: {self.pick('b', 'x')}"] if places and self.random.randrange(3) == 0 else []
        end += ["by: " + str(self.pick(30, 60))] if self.random.randrange(3) == 0 else []
        bounded = self.random.randrange(3) == 0
        end += ["from: 20"] if bounded else []
        lines += ["    end: {" + ", ".join(end) + "}"] if end else []
        lines += ["    wait: {at_most: 5}"] if self.random.randrange(4) == 0 else []
        lines += ['    first: kind == "inn"'] if self.random.randrange(5) == 0 else []
        lines += ["    last: good"] if self.random.randrange(5) == 0 else []
        if begins or bounded:
            self.tours[name] = begins
        return lines

    # expressions

    def row(self) -> str:
        """A condition on a row `m` of a set, which may read a choice of one row."""
        options = ["m.good", "m.price <= 1.5", 'm.kind == "inn"', "m.n > 0", "m.n in [0, 2]", "known(m.price)", "true",
                   'm.town == "b" or m.good', "not m.good", "m.day == 1"]  # fmt: skip
        if self.singles and self.random.randrange(3) == 0:
            one = self.pick(*self.singles)
            options = [
                f"m.town == {one}.town",
                f"m.kind != {one}.kind",
                f"near(m.town, {one}.town)",
                f"m.n <= {one}.n and {one}.pool",
                f"walk(m.town, {one}.town) <= 5",
                f"m.price < {one}.fee",
            ]
        return self.pick(*options)

    def each(self, function: str, body: str) -> str:
        condition = f" if {self.row()}" if self.random.randrange(3) == 0 else ""
        return f"{function}({body} for m in {self.pick(*self.sets)}{condition})"

    def money(self) -> str:
        options = ["2"]
        if self.sets:
            body = self.pick("m.price", "m.price", "2 * m.price")
            options += [self.each(self.pick("sum", "max", "min", "sum"), body) for _ in range(3)]
        options += [f"{one}.fee" for one in self.singles] * 2
        return self.pick(*options)

    def plain(self) -> str:
        options = [f"{one}.n" for one in self.singles]
        if self.sets:
            options += [self.each("sum", "m.n"), self.each("count", "m"), self.each("distinct", "m.town"),
                        self.each("count", self.row()), self.each(self.pick("max", "min"), "m.n"),
                        self.each("distinct", "m.price")]  # fmt: skip
        options += [f"count({self.wish()}, {self.wish()})", f"max({self.pick(*options)}, {self.pick(*options)})",
                    f"abs({self.pick(*options)})",
                    f"{self.pick('ceil', 'floor')}({self.pick(*options)} / 2)"]  # fmt: skip
        return self.pick(*options)

    def wish(self) -> str:
        options = [f"{one}.pool" for one in self.singles]
        options += [self.each("any", self.row()), self.each("all", self.row())] if self.sets else []
        if len(self.singles) > 1:
            options += ["c0.town == c2.town"] if "c2" in self.singles else ["near(c0.town, c1.town)"]
        return self.pick(*options)

    def atom(self) -> str:
        op = self.pick("<", "<=", "==", "!=", ">=", ">")
        kinds = ["money", "plain", "wish", "wish", "known"]
        kinds += ["tour"] * 3 if self.tours else []
        kinds += ["pair"] * 2 if len(self.singles) > 1 else []
        match self.pick(*kinds):
            case "money":
                left = self.money()
                if left == "2":
                    return self.wish()
                return f"{left} + {self.money()} {op} {self.pick(self.money(), '3', '4.5')}"
            case "plain":
                return f"{self.plain()} {op} {self.pick(1, 2)} + {self.plain()}"
            case "known":
                return f"known({self.pick(self.plain(), self.wish())})"
            case "pair":
                a, b = self.singles
                return self.pick(f"{a}.town == {b}.town", f"{a}.kind != {b}.kind", f"near({a}.town, {b}.town)",
                                 f"walk({a}.town, {b}.town) <= 5", f"{a}.n + {b}.n {op} 1", f"{a}.pool == {b}.pool",
                                 f"walk({a}.town, {b}.town) - 2 * walk({b}.town, {a}.town) <= 6")  # fmt: skip
            case "tour":
                tour = self.pick(*self.tours)
                options = [f"{tour}.ends <= {self.pick(20, 35, 50)}", f"{tour}.travel {op} {self.pick(5, 10, 20)}",
                           f"{tour}.ends < 30 or {tour}.travel >= 10", f"not {tour}.ends > 40"]  # fmt: skip
                options += (
                    [f"{tour}.takes + {tour}.travel <= 45", f"{tour}.takes - {tour}.travel < 30"]
                    if self.tours[tour]
                    else []
                )
                return self.pick(*options)
            case _:
                return self.wish()

    def condition(self, depth: int = 2) -> str:
        if depth == 0 or self.random.randrange(2):
            return self.atom()
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        return self.pick(
            f"({left}) or ({right})", f"({left}) and ({right})", f"not ({left})", f"not ({left} or {right})"
        )

    def objective(self) -> tuple[str, str]:
        options = [f"{one}.n" for one in self.singles] * 2
        options += [f"count({self.wish()}, {self.wish()})"]
        if self.sets:
            options += [self.each("sum", "m.n"), self.each("count", self.row()), self.each("count", "m")]
        text = " + ".join(self.random.sample(options, self.random.randint(1, 2)))
        sense = self.pick("minimize", "maximize")
        if self.tours and self.random.randrange(2):
            tour = next(iter(self.tours))
            early = self.pick(("minimize", f"{tour}.ends"), ("maximize", f"-{tour}.ends"))
            return self.pick(early, early, (sense, f"{tour}.travel"))
        return sense, text


def case_of(seed: int) -> Case:
    """The case of a seed."""
    phrases = Phrases(seed)
    world, lines = phrases.world(), phrases.choose()
    constraints = [f"  k{number}: '{phrases.condition()}'" for number in range(phrases.random.randint(0, 3))]
    sense, objective = phrases.objective()
    task = ["cobench: 1", "id: t", "title: t", "dataset: .", "choose:", *lines]
    task += ["constraints:", *constraints] if constraints else []
    task += [f"{sense}: '{objective}'"]
    return Case(world, "\n".join(task) + "\n")
