"""The loops of the scan, in plain Python that numba compiles when there is enough to do.

Each choice's rows are sorted by (group, costs, objective) and equal ones may be merged, with their multiplicity. A side
is (costs `[m*R]`, objective `[m]`, multiplicity `[m]`, tallied sum `[m]`): multiplicities are empty when all are one,
the last is empty when nothing is tallied. Blocks are (bounds `[4*k]`, offsets `[k*R]`, base `[k]`, tallied `[k]`, times
`[k]`): rows `a0..a1` of side A with rows `b0..b1` of side B and one combination of rows of the other choices, whose
sums are the offsets, base and tallied sum, and which stands for so many.
Costs are compared with `<= 0`. All sums fit int64: the model proves it; and all counts, as no more plans than
2^62 go through one call. A process begins uncompiled, on Python lists, because importing numba costs more than a small
task does. Both ways are the same source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..model import Ints

COMPILE_FROM = 1_000_000  # steps in a process; about 0.3 s uncompiled, which is what importing numba costs
NONE = 2**63 - 1  # no value: sums stay below 2^62
FOUND = (0, NONE, 0, NONE, 0, 0, 0)  # count, best, tied, runner-up, row of A, row of B, block


def sweep(
    blocks: Any, a: Any, b: Any, wanted: Any, place: Any, distinct: Any, low: int,
    found: Any, best_of_a: Any, best_of_block: Any, below: Any, equal: Any, tree: Any, cells: Any, running: Any,
    tallied: Any,
) -> None:  # fmt: skip
    """Counts pairs with a + b + offset <= 0, finds their least objective, ranks the `wanted` values and tallies a sum:
    one pass per block, both sides sorted by cost.

    `found = [count, best, tied, runner-up, row of A, row of B, block]` is updated; `best_of_a[i]` and
    `best_of_block[k]` are lowered to the best objective with row i of A and in block k, when they are not empty;
    `below[t]`, `equal[t]` grow by the pairs with less than `wanted[t]` and with just that. A Fenwick tree over the
    objectives of B answers that: over `distinct[b0..]`, the ascending values in the group of B, of which row j has
    number `place[j]`, from 1; or, where those are empty, over all values from `low` on. `tallied[v]` grows by the pairs
    with sum v. `tree`, `cells` and `running` are zero on entry and on return.
    Time: O(rows * (1 + values wanted * log + width of running)).
    """
    bounds, offsets, base, blocks_by, blocks_times = blocks
    a_cost, a_obj, a_mult, a_by = a
    b_cost, b_obj, b_mult, b_by = b
    size, width, values = len(tree) - 1, len(running), len(wanted)
    a_plain, b_plain, dense = len(a_mult) == 0, len(b_mult) == 0, len(place) == 0
    for block in range(len(base)):
        a0, a1, b0, b1 = bounds[4 * block], bounds[4 * block + 1], bounds[4 * block + 2], bounds[4 * block + 3]
        offset, shift = offsets[block], base[block]
        if values > 0 and not dense:
            size = b1 - b0
        inside = 0
        first, first_row, first_tied, second = NONE, 0, 0, NONE
        j = b0
        for i in range(a1 - 1, a0 - 1, -1):  # A from dear to cheap, so the affordable part of B only grows
            limit = -a_cost[i] - offset
            while j < b1 and b_cost[j] <= limit:
                value, times = b_obj[j], 1
                if not b_plain:
                    times = b_mult[j]
                inside += times
                if value < first:
                    second, first, first_row, first_tied = first, value, j, times
                elif value == first:
                    first_tied += times
                elif value < second:
                    second = value
                if values > 0:
                    at = value - low + 1 if dense else place[j]
                    cells[at] += times
                    while at <= size:
                        tree[at] += times
                        at += at & -at
                if width > 0:
                    running[b_by[j]] += times
                j += 1
            if inside == 0:
                continue
            times = blocks_times[block]
            if not a_plain:
                times *= a_mult[i]
            found[0] += inside * times
            sum_of_a = a_obj[i] + shift
            value = sum_of_a + first
            if len(best_of_a) > 0 and value < best_of_a[i]:
                best_of_a[i] = value
            if len(best_of_block) > 0 and value < best_of_block[block]:
                best_of_block[block] = value
            if value < found[1]:
                found[3], found[1], found[2] = found[1], value, first_tied * times
                found[4], found[5], found[6] = i, first_row, block
            elif value == found[1]:
                found[2] += first_tied * times
            elif value < found[3]:
                found[3] = value
            if second != NONE:
                value = sum_of_a + second
                if found[1] < value < found[3]:
                    found[3] = value
            for t in range(values):
                limit = wanted[t] - sum_of_a
                if dense:
                    at = limit - low  # the last cell with less than the limit
                    if at >= 0 and at < size:
                        equal[t] += cells[at + 1] * times
                    at = min(at, size)
                else:
                    at, high = b0, b1
                    while at < high:
                        middle = (at + high) // 2
                        if distinct[middle] < limit:
                            at = middle + 1
                        else:
                            high = middle
                    if at < b1 and distinct[at] == limit:
                        equal[t] += cells[at - b0 + 1] * times
                    at -= b0
                less = 0
                while at > 0:
                    less += tree[at]
                    at -= at & -at
                below[t] += less * times
            if width > 0:
                at = a_by[i] + blocks_by[block]
                for cell in range(width):
                    tallied[at + cell] += running[cell] * times
        if values > 0:
            for at in range(size + 1):
                tree[at] = 0
                cells[at] = 0
        for cell in range(width):
            running[cell] = 0


def sweep_two(
    blocks: Any, a: Any, b: Any, place: Any, distinct: Any, found: Any, best_of_a: Any, best_of_block: Any,
    tree: Any,
) -> None:  # fmt: skip
    """Count and least objective of pairs that satisfy two rows: a sweep over the first, a Fenwick tree over the second.

    As `sweep`, with `place` and `distinct` for the second costs of B. A node of the tree holds (number, best, tied,
    runner-up, row) of the rows below it; `tree[5*(rows + 1)]` is (0, NONE, 0, NONE, 0) everywhere on entry and return.
    Time: O(rows * log rows).
    """
    bounds, offsets, base, _, blocks_times = blocks
    a_costs, a_obj, a_mult, _ = a
    b_costs, b_obj, b_mult, _ = b
    for block in range(len(base)):
        a0, a1, b0, b1 = bounds[4 * block], bounds[4 * block + 1], bounds[4 * block + 2], bounds[4 * block + 3]
        offset, offset_two, shift = offsets[2 * block], offsets[2 * block + 1], base[block]
        j = b0
        for i in range(a1 - 1, a0 - 1, -1):
            limit = -a_costs[2 * i] - offset
            while j < b1 and b_costs[2 * j] <= limit:
                value, times = b_obj[j], 1
                if len(b_mult) > 0:
                    times = b_mult[j]
                at = place[j]
                while at <= b1 - b0:
                    node = 5 * at
                    tree[node] += times
                    if value < tree[node + 1]:
                        tree[node + 3], tree[node + 1] = tree[node + 1], value
                        tree[node + 2], tree[node + 4] = times, j
                    elif value == tree[node + 1]:
                        tree[node + 2] += times
                    elif value < tree[node + 3]:
                        tree[node + 3] = value
                    at += at & -at
                j += 1
            limit = -a_costs[2 * i + 1] - offset_two
            at, high = b0, b1
            while at < high:
                middle = (at + high) // 2
                if distinct[middle] <= limit:
                    at = middle + 1
                else:
                    high = middle
            at -= b0
            inside = 0
            first, first_row, first_tied, second = NONE, 0, 0, NONE
            while at > 0:
                node = 5 * at
                inside += tree[node]
                value = tree[node + 1]
                if value < first:
                    second = min(first, tree[node + 3])
                    first, first_tied, first_row = value, tree[node + 2], tree[node + 4]
                elif value == first:
                    first_tied += tree[node + 2]
                    second = min(second, tree[node + 3])
                else:
                    second = min(second, value)
                at -= at & -at
            if inside == 0:
                continue
            times = blocks_times[block]
            if len(a_mult) > 0:
                times *= a_mult[i]
            found[0] += inside * times
            value = a_obj[i] + shift + first
            if len(best_of_a) > 0 and value < best_of_a[i]:
                best_of_a[i] = value
            if len(best_of_block) > 0 and value < best_of_block[block]:
                best_of_block[block] = value
            if value < found[1]:
                found[3], found[1], found[2] = found[1], value, first_tied * times
                found[4], found[5], found[6] = i, first_row, block
            elif value == found[1]:
                found[2] += first_tied * times
            elif value < found[3]:
                found[3] = value
            if second != NONE:
                value = a_obj[i] + shift + second
                if found[1] < value < found[3]:
                    found[3] = value
        for at in range(b1 - b0 + 1):
            tree[5 * at], tree[5 * at + 1], tree[5 * at + 2], tree[5 * at + 3] = 0, NONE, 0, NONE


def run(kernel: Callable[..., None], steps: int, inputs: Sequence[Any], outputs: Sequence[Ints]) -> None:
    """Runs a kernel on int64 arrays, `outputs` last: uncompiled, on lists, until that has cost what compiling costs.

    Inputs may be tuples of arrays.
    """
    if ready(steps + sum(_length(item) for item in (*inputs, *outputs))):
        compiled(kernel)(*inputs, *outputs)
        return
    results = [output.tolist() for output in outputs]
    kernel(*(_listed(item) for item in inputs), *results)
    for output, result in zip(outputs, results, strict=True):
        output[:] = result


def ready(steps: int) -> bool:
    """Whether work of so many steps is to be compiled: once this process has done enough uncompiled."""
    _spent[0] += steps
    return _spent[0] >= COMPILE_FROM


@lru_cache
def compiled(kernel: Callable[..., None]) -> Callable[..., None]:
    """The kernel as machine code, for int64 arrays and integers."""
    import numba  # only here: it costs 0.3 s, and small tasks never need it

    _hold_memory()
    try:
        made: Callable[..., None] = numba.njit(cache=True, nogil=True)(kernel)
    except RuntimeError:  # there is no folder that the compiled code could be kept in
        made = numba.njit(nogil=True)(kernel)
    return made


@lru_cache
def _hold_memory() -> None:
    """Lets go of 31 MB that nobody touched. To the C library of Linux a freed block is a sign that blocks of its size
    come and go: from then on it keeps such blocks, instead of giving them back to the system and having every page
    cleared again for the next sweep, which took a quarter of the time at 10^5 rows. Elsewhere it does nothing.
    """
    np.empty(31 << 17, np.int64)


def _length(item: Any) -> int:
    if isinstance(item, tuple):
        return sum(len(part) for part in item)  # type: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return len(item) if isinstance(item, np.ndarray) else 0


def _listed(item: Any) -> Any:
    if isinstance(item, tuple):
        return tuple(part.tolist() for part in item)  # type: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return item.tolist() if isinstance(item, np.ndarray) else item


_spent = [0]  # steps run, and list items made, uncompiled so far in this process
