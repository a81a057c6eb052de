"""Opening a dataset: by the name of a bundled world or by its folder, and its tables as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..schemas import expression as ex
from ..schemas.errors import ManifestError, TableError, Where, did_you_mean, raise_all
from ..schemas.manifest import ManifestFile, load_manifest
from ..schemas.world import Derived, Referenced, Stored, Table, World
from .table import OfferTable, read_table, row_of

MANIFEST = "dataset.yaml"
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset's folder and manifest. Every table is read and checked once; what is stored depends on no parameter."""

    folder: Path
    manifest: ManifestFile
    _opened: dict[tuple[str, str], OfferTable] = field(
        default_factory=dict[tuple[str, str], OfferTable], init=False, repr=False, compare=False
    )
    _made: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any], init=False, repr=False, compare=False)

    def files(self) -> list[Path]:
        """The manifest and every Parquet file of the folder: what must not be written to."""
        return [self.folder / MANIFEST, *sorted(self.folder.glob("*.parquet"))]

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once and kept as long as the dataset is open.

        For what follows from stored columns alone, such as an index: so many keys, and so much memory, as columns.
        """
        if key not in self._made:
            self._made[key] = make()
        found: Made = self._made[key]
        return found

    def table(self, world: World, name: str) -> OfferTable:
        """A table of the dataset, all its references (which are opened too) leading somewhere.

        Raises TableError, or InputErrors when several columns are at fault.
        """
        name = world.tables[name].base
        if ("table", name) not in self._opened:
            table = world.tables[name]
            ids = _id_columns(world).get(name, frozenset[str]())
            found = read_table(self.folder / table.file, name, table.key, table.stored, id_columns=ids)
            raise_all(list(self._dangling(world, table, found)))
            self._opened["table", name] = found
        return self._opened["table", name]

    def relation(self, world: World, name: str) -> OfferTable:
        """A relation of the dataset, its arguments as key; raises as `table` does."""
        if ("relation", name) not in self._opened:
            relation = world.relations[name]
            path = self.folder / relation.file
            self._opened["relation", name] = read_table(path, name, relation.args, relation.columns)
        return self._opened["relation", name]

    def _dangling(self, world: World, table: Table, found: OfferTable) -> Iterator[TableError]:
        """An error for each column that refers to rows that the other table does not have."""
        for name, target in table.references.items():
            key = world.tables[target].key[0]
            column = found.columns[name]
            absent = row_of(self.table(world, target).columns[key], column) < 0
            if absent.any():
                value = column.shown(int(absent.argmax()))
                message = f"{table.name}.{name}: {absent.sum()} rows refer to no row of {target}, first {value}"
                hint = f"every {name} must be a {key} in {world.tables[target].file}"
                yield TableError(message, where=Where(str(self.folder / table.file)), hint=hint)


def _id_columns(world: World) -> dict[str, frozenset[str]]:
    """Per table its stored string columns that become part of offer ids, of its own or of tables that refer to it."""
    found: dict[str, set[str]] = {}
    for table in world.tables.values():
        for column in table.id.columns if table.id else ():
            owner, name = _origin(world, table, column)
            stored = owner.fields[name]
            if isinstance(stored, Stored) and stored.type.kind == "string":
                found.setdefault(owner.name, set()).add(name)
    return {name: frozenset(columns) for name, columns in found.items()}


def _origin(world: World, table: Table, column: str) -> tuple[Table, str]:
    """The table and column that a column repeats, through references and plain renaming."""
    shown = table.fields[column]
    if isinstance(shown, Referenced):
        return _origin(world, world.tables[shown.table], shown.column)
    if isinstance(shown, Derived) and isinstance(shown.expr, ex.Column):
        return _origin(world, table, shown.expr.column)
    return table, column


def bundled() -> dict[str, Path]:
    """The folders of the datasets that come with cobench, by name."""
    return {path.parents[1].name: path.parent for path in sorted(Path(__file__).parent.glob(f"*/mini/{MANIFEST}"))}


def open_dataset(name_or_path: str, base: Path | None = None, where: Where | None = None) -> Dataset:
    """The dataset of a bundled name, of a folder with a dataset.yaml, or of a manifest file; paths start at `base`.

    A bundled name wins over a folder of the same name; write `./parks` for the folder. Reads no table. Raises
    ManifestError, at `where` the dataset was named, for an unknown one, and what `load_manifest` raises.
    """
    known = bundled()
    path = known[name_or_path] if name_or_path in known else (base or Path()) / name_or_path
    if path.is_dir():
        path = path / MANIFEST
        if not path.is_file():
            raise ManifestError(f"this folder has no {MANIFEST}", where=Where(str(path.parent)))
    elif not path.is_file():
        hint = did_you_mean(name_or_path, known, "bundled datasets")
        raise ManifestError(f"no dataset '{name_or_path}', neither bundled nor at {path}", where=where, hint=hint)
    return Dataset(path.parent, load_manifest(path))
