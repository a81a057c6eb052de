"""The offers of one choice: which rows they are, and their ids, written out only for rows that somebody asks for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...schemas.errors import TableError, Where
from ...schemas.offer_id import IdTemplate, id_text
from ...schemas.plan import MAX_ID
from ...schemas.units import Type
from ..coding import first_rows
from .levels import Levels, recent
from .values import Evaluator, Ints, TableColumns, Values, codes_of, codes_of_tuples, table_columns

_COMPACT = 2**31  # codes above are numbered anew, so that their products stay within 64 bits


@dataclass(frozen=True, slots=True)
class Offers:
    """Row numbers `rows: int64[n]` of a table, ascending, that satisfy the table's `require`."""

    choice: str
    table: TableColumns
    rows: Ints

    @classmethod
    def all(cls, choice: str, columns: TableColumns) -> Offers:
        """Every row of a table that satisfies its `require`."""
        table = columns.world.tables[columns.table]
        if table.require is None or table.require_text is None:
            return cls(choice, columns, np.arange(columns.length))
        evaluator = Evaluator(
            columns.length, lambda node: columns.column(node.column), columns.dataset, columns.world, table.require_text
        )
        return cls(choice, columns, np.flatnonzero(evaluator.values(table.require).true()))

    def ids(self, indices: Iterable[int]) -> list[str]:
        """The ids of the offers at the given indices into `rows`."""
        chosen = self.rows[np.fromiter(indices, np.int64)]
        template = self.table.world.tables[self.table.table].id
        if template is None:
            return []
        columns = [self._texts(column, chosen) for column in template.columns]
        ids = [template.format(values) for values in zip(*columns, strict=True)]
        long = next((offer for offer in ids if len(offer) > MAX_ID), None)
        if long is not None:
            where = Where(str(self.table.dataset.folder / self.table.world.tables[self.table.table].file))
            raise TableError(f"an offer id has {len(long)} characters, more than {MAX_ID}", where=where)
        return ids

    def _texts(self, column: str, rows: Ints) -> list[str | None]:
        return texts(self.table.taken(column, rows), self.table.world.tables[self.table.table].fields[column].type)

    def find(self, ids: Iterable[str]) -> Ints:
        """The indices of the offers with these ids, ascending; ids of no offer are left out."""
        template = self.table.world.tables[self.table.table].id
        parsed = [template.parse(offer) for offer in ids] if template is not None else []
        wanted = list({tuple(found.values()) for found in parsed if found})
        if not wanted or template is None:
            return np.zeros(0, np.int64)
        near = self._start(template, wanted)
        rows = self.rows[near]
        whole, number = np.zeros(len(rows) + len(wanted), np.int64), 1  # a code for each id: rows first, then wanted
        for position, column in enumerate(template.columns):
            values = self.table.taken(column, rows)
            codes, parts = codes_of(values)
            field = self.table.world.tables[self.table.table].fields[column]
            code_of = {part: code for code, part in enumerate(texts(values.take(first_rows(codes, parts)), field.type))}
            sought = np.array([code_of.get(key[position], parts) for key in wanted], np.int64)  # `parts`: in no row
            whole, number = whole * (parts + 1) + np.concatenate([codes, sought]), number * (parts + 1)
            if number > _COMPACT:
                whole = np.unique(whole, return_inverse=True)[1].astype(np.int64)
                number = len(whole)
        return near[np.isin(whole[: len(rows)], whole[len(rows) :])]

    def _start(self, template: IdTemplate, wanted: Iterable[tuple[str | None, ...]]) -> Ints:
        """The indices of the rows that have the first column of the table's key as an id says it, if ids say it.

        Tables lie in the order of their key, so these are a few ranges of rows, and the others need no look.
        """
        first = self.table.world.tables[self.table.table].key[0]
        if first not in template.columns:
            return np.arange(len(self.rows))
        values, position = self.table.column(first), template.columns.index(first)
        if values.words is None or values.null is not None:
            return np.arange(len(self.rows))
        words, sought = values.words, sorted({key[position] or "" for key in wanted})
        places = [bisect_left(words, text) for text in sought]
        codes = [place for place, text in zip(places, sought, strict=True) if words[place : place + 1] == (text,)]
        ends = np.searchsorted(values.data, np.array([codes, [code + 1 for code in codes]], values.data.dtype))
        lows, highs = np.searchsorted(self.rows, ends)
        ranges = [np.arange(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *ranges])

    def check_unique(self) -> None:
        """Refuses offers that share an id: TableError with one of them. Takes a sort of the offers."""
        table = self.table.world.tables[self.table.table]
        if table.id is None or set(table.key) <= set(table.id.columns) or not len(self.rows):
            return
        codes, number = codes_of_tuples(
            [self.table.column(column).take(self.rows) for column in table.id.columns], len(self.rows)
        )
        if number < len(self.rows):
            repeated = int(np.argmax(np.bincount(codes)))
            offer = self.ids([int(np.flatnonzero(codes == repeated)[0])])[0]
            more = len(self.rows) - number
            raise TableError(
                f"the table '{table.name}' has {more} offers whose id is not their own, such as '{offer}'",
                where=Where(str(self.table.dataset.folder / table.file)),
                hint="an id has to tell the offers of a table apart",
            )


def check_unique(choice: str, levels: Levels) -> None:
    """Refuses a table whose offers share an id, as above: looked at once for each binding of the parameters."""

    def check() -> bool:
        Offers.all(choice, table_columns(levels.world, levels.dataset)[levels.columns.table]).check_unique()
        return True

    recent(levels.dataset).get("unique", levels, None, check)


def texts(values: Values, kind: Type) -> list[str | None]:
    """The values as they stand in ids, None for unknown."""
    items: list[int | str | None] = values.data.tolist()
    if values.words is not None:
        items = [values.words[int(code)] for code in values.data]
    if values.null is not None:
        items = [None if null else item for item, null in zip(items, values.null, strict=True)]
    return [id_text(item, kind) for item in items]
