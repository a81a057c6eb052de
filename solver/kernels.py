"""The loops of the scan, in plain Python that numba compiles when there is enough to do.

Each choice's rows are sorted by (group, first row's cost, objective) and equal ones merged, with their multiplicity.
A block says: rows `a0..a1` of side A with rows `b0..b1` of side B, to which `offset` (row) and `base` (objective) are
added. Costs are compared with `<= 0`. All sums fit int64: the model proves it. A process begins uncompiled, on Python
lists, because importing numba costs more than a small task does. Both ways are the same source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .model import Ints

COMPILE_FROM = 1_000_000  # steps in a process; about 0.3 s uncompiled, which is what importing numba costs
NONE = 2**63 - 1  # no value: sums stay below 2^62


def sweep(
    blocks: Any, offset: Any, base: Any, a_cost: Any, a_obj: Any, a_mult: Any, b_cost: Any, b_obj: Any, b_mult: Any,
    found: Any, best_of_a: Any,
) -> None:  # fmt: skip
    """Counts pairs with a + b + offset <= 0 and finds their least objective: one pass per block, both sides sorted by
    cost.

    `found = [count, best, tied, runner-up, row of A, row of B]` is updated; `best_of_a[i]` is lowered to the best
    objective with row i of A when it is not empty. Time: O(rows of the blocks).
    """
    for block in range(len(offset)):
        a0, a1, b0, b1 = blocks[4 * block], blocks[4 * block + 1], blocks[4 * block + 2], blocks[4 * block + 3]
        inside = 0
        first, first_row, first_tied, second = NONE, 0, 0, NONE
        j = b0
        for i in range(a1 - 1, a0 - 1, -1):  # A from dear to cheap, so the affordable part of B only grows
            limit = -a_cost[i] - offset[block]
            while j < b1 and b_cost[j] <= limit:
                value, times = b_obj[j], b_mult[j]
                inside += times
                if value < first:
                    second, first, first_row, first_tied = first, value, j, times
                elif value == first:
                    first_tied += times
                elif value < second:
                    second = value
                j += 1
            if inside == 0:
                continue
            found[0] += inside * a_mult[i]
            value = a_obj[i] + base[block] + first
            if len(best_of_a) > 0 and value < best_of_a[i]:
                best_of_a[i] = value
            if value < found[1]:
                found[3], found[1], found[2] = found[1], value, first_tied * a_mult[i]
                found[4], found[5] = i, first_row
            elif value == found[1]:
                found[2] += first_tied * a_mult[i]
            elif value < found[3]:
                found[3] = value
            if second != NONE:
                value = a_obj[i] + base[block] + second
                if found[1] < value < found[3]:
                    found[3] = value


def enumerate_pairs(
    blocks: Any, offsets: Any, base: Any, a_costs: Any, a_obj: Any, a_mult: Any, b_costs: Any, b_obj: Any, b_mult: Any,
    found: Any, best_of_a: Any,
) -> None:  # fmt: skip
    """The same as `sweep` for any number of rows, pair by pair: `a_costs[i*R + r]`, `offsets[block*R + r]`, R rows.

    B is sorted by its first cost, so a block row ends at the first pair that is too dear. Time: O(pairs).
    """
    rows = len(offsets) // len(base)
    for block in range(len(base)):
        a0, a1, b0, b1 = blocks[4 * block], blocks[4 * block + 1], blocks[4 * block + 2], blocks[4 * block + 3]
        for i in range(a0, a1):
            for j in range(b0, b1):
                if a_costs[i * rows] + b_costs[j * rows] + offsets[block * rows] > 0:
                    break
                fits = True
                for row in range(1, rows):
                    if a_costs[i * rows + row] + b_costs[j * rows + row] + offsets[block * rows + row] > 0:
                        fits = False
                        break
                if not fits:
                    continue
                times = a_mult[i] * b_mult[j]
                value = a_obj[i] + b_obj[j] + base[block]
                found[0] += times
                if len(best_of_a) > 0 and value < best_of_a[i]:
                    best_of_a[i] = value
                if value < found[1]:
                    found[3], found[1], found[2] = found[1], value, times
                    found[4], found[5] = i, j
                elif value == found[1]:
                    found[2] += times
                elif value < found[3]:
                    found[3] = value


def tally(
    blocks: Any, offsets: Any, base: Any, a_costs: Any, a_obj: Any, a_mult: Any, b_costs: Any, b_obj: Any, b_mult: Any,
    times: int, most: int, keys: Any, counts: Any, used: Any,
) -> None:  # fmt: skip
    """Adds `times` the number of pairs of every objective value to a hash table, as long as it has at most `most`
    values.

    `keys`, `counts`: open addressing by `value % len(keys)`, a count of 0 marks a free place. `used[0]` is the number
    of values; above `most` the work stops. Time: O(feasible pairs + rows) when there is at most one row.
    """
    rows = len(offsets) // len(base)
    size = len(keys)
    for block in range(len(base)):
        a0, a1, b0, b1 = blocks[4 * block], blocks[4 * block + 1], blocks[4 * block + 2], blocks[4 * block + 3]
        for i in range(a0, a1):
            for j in range(b0, b1):
                if a_costs[i * rows] + b_costs[j * rows] + offsets[block * rows] > 0:
                    break
                fits = True
                for row in range(1, rows):
                    if a_costs[i * rows + row] + b_costs[j * rows + row] + offsets[block * rows + row] > 0:
                        fits = False
                        break
                if not fits:
                    continue
                value = a_obj[i] + b_obj[j] + base[block]
                place = value % size
                while counts[place] != 0 and keys[place] != value:
                    place += 1
                    if place == size:
                        place = 0
                if counts[place] == 0:
                    used[0] += 1
                    if used[0] > most:
                        return
                    keys[place] = value
                counts[place] += a_mult[i] * b_mult[j] * times


def count_two(
    blocks: Any, offsets: Any, a_costs: Any, a_mult: Any, b_costs: Any, b_mult: Any, b_sorted: Any, b_place: Any,
    tree: Any, found: Any,
) -> None:  # fmt: skip
    """Counts pairs that satisfy two rows: a sweep over the first, a Fenwick tree over the second.

    `b_sorted[j]` holds the second costs of B in ascending order within each group, `b_place[j]` the 1-based place of
    row j's second cost in its group. `tree` is zero on entry and on return. Time: O(rows * log rows).
    """
    for block in range(len(offsets) // 2):
        a0, a1, b0, b1 = blocks[4 * block], blocks[4 * block + 1], blocks[4 * block + 2], blocks[4 * block + 3]
        size = b1 - b0
        j = b0
        for i in range(a1 - 1, a0 - 1, -1):
            while j < b1 and b_costs[2 * j] + a_costs[2 * i] + offsets[2 * block] <= 0:
                place = b_place[j]
                while place <= size:
                    tree[place] += b_mult[j]
                    place += place & -place
                j += 1
            limit = -a_costs[2 * i + 1] - offsets[2 * block + 1]
            low, high = b0, b1
            while low < high:
                middle = (low + high) // 2
                if b_sorted[middle] <= limit:
                    low = middle + 1
                else:
                    high = middle
            place = low - b0
            inside = 0
            while place > 0:
                inside += tree[place]
                place -= place & -place
            found[0] += inside * a_mult[i]
        for place in range(size + 1):
            tree[place] = 0


def run(kernel: Callable[..., None], steps: int, inputs: Sequence[Any], outputs: Sequence[Ints]) -> None:
    """Runs a kernel on int64 arrays, `outputs` last: uncompiled, on lists, until that has cost what compiling costs."""
    _spent[0] += steps + sum(len(item) for item in (*inputs, *outputs) if isinstance(item, np.ndarray))
    if _spent[0] >= COMPILE_FROM:
        _compiled(kernel)(*inputs, *outputs)
        return
    results = [output.tolist() for output in outputs]
    kernel(*(item.tolist() if isinstance(item, np.ndarray) else item for item in inputs), *results)
    for output, result in zip(outputs, results, strict=True):
        output[:] = result


_spent = [0]  # steps run, and list items made, uncompiled so far in this process


@lru_cache
def _compiled(kernel: Callable[..., None]) -> Callable[..., None]:
    import numba  # only here: it costs 0.3 s, and small tasks never need it

    try:
        compiled: Callable[..., None] = numba.njit(cache=True, nogil=True)(kernel)
    except RuntimeError:  # there is no folder that the compiled code could be kept in
        compiled = numba.njit(nogil=True)(kernel)
    return compiled
