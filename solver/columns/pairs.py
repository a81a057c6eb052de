"""More loops of the scan, in the form that `kernels` describes: pair by pair, row by row, and the sort."""

from __future__ import annotations

from typing import Any


def enumerate_pairs(
    blocks: Any, a: Any, b: Any, wanted: Any, width: int, found: Any, best_of_a: Any, best_of_block: Any,
    below: Any, equal: Any, tallied: Any,
) -> None:  # fmt: skip
    """The same as `sweep` for any number of rows R: `a_costs[i*R + r]`, `offsets[block*R + r]`. `width`: whether a sum
    is tallied.

    B is sorted by its first cost, so a block row ends at the first pair that is too dear. Time: O(pairs).
    """
    bounds, offsets, base, blocks_by, blocks_times = blocks
    a_costs, a_obj, a_mult, a_by = a
    b_costs, b_obj, b_mult, b_by = b
    rows = len(offsets) // len(base)
    for block in range(len(base)):
        a0, a1, b0, b1 = bounds[4 * block], bounds[4 * block + 1], bounds[4 * block + 2], bounds[4 * block + 3]
        shift = base[block]
        for i in range(a0, a1):
            limit = -a_costs[i * rows] - offsets[block * rows]
            for j in range(b0, b1):
                if b_costs[j * rows] > limit:
                    break
                fits = True
                for row in range(1, rows):
                    cost = a_costs[i * rows + row] + b_costs[j * rows + row] + offsets[block * rows + row]
                    if cost > 0:
                        fits = False
                        break
                if not fits:
                    continue
                times = blocks_times[block]
                if len(a_mult) > 0:
                    times *= a_mult[i]
                if len(b_mult) > 0:
                    times *= b_mult[j]
                value = a_obj[i] + b_obj[j] + shift
                found[0] += times
                if len(best_of_a) > 0 and value < best_of_a[i]:
                    best_of_a[i] = value
                if len(best_of_block) > 0 and value < best_of_block[block]:
                    best_of_block[block] = value
                if value < found[1]:
                    found[3], found[1], found[2] = found[1], value, times
                    found[4], found[5], found[6] = i, j, block
                elif value == found[1]:
                    found[2] += times
                elif value < found[3]:
                    found[3] = value
                for t in range(len(wanted)):
                    if value < wanted[t]:
                        below[t] += times
                    elif value == wanted[t]:
                        equal[t] += times
                if width > 0:
                    tallied[a_by[i] + b_by[j] + blocks_by[block]] += times


def hash_values(
    blocks: Any, a: Any, b: Any, most: int, keys: Any, counts: Any, used: Any
) -> None:  # fmt: skip
    """Adds the number of pairs of every objective value to a hash table, as long as it has at most `most` values.

    `keys`, `counts`: open addressing by `value % len(keys)`, a count of 0 marks a free place. `used[0]` is the number
    of values; above `most` the work stops. Time: O(feasible pairs + rows) when there is at most one row.
    """
    bounds, offsets, base, _, blocks_times = blocks
    a_costs, a_obj, a_mult, _ = a
    b_costs, b_obj, b_mult, _ = b
    rows = len(offsets) // len(base)
    size = len(keys)
    for block in range(len(base)):
        a0, a1, b0, b1 = bounds[4 * block], bounds[4 * block + 1], bounds[4 * block + 2], bounds[4 * block + 3]
        for i in range(a0, a1):
            limit = -a_costs[i * rows] - offsets[block * rows]
            for j in range(b0, b1):
                if b_costs[j * rows] > limit:
                    break
                fits = True
                for row in range(1, rows):
                    cost = a_costs[i * rows + row] + b_costs[j * rows + row] + offsets[block * rows + row]
                    if cost > 0:
                        fits = False
                        break
                if not fits:
                    continue
                times = blocks_times[block]
                if len(a_mult) > 0:
                    times *= a_mult[i]
                if len(b_mult) > 0:
                    times *= b_mult[j]
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
                counts[place] += times


def report(
    blocks: Any, a: Any, b: Any, value: int, steps: int, lowest: Any, used: Any, plans: Any
) -> None:  # fmt: skip
    """Lists the pairs with an objective of at most `value`: (block, row of A, row of B) into `plans[3*most]`.

    `lowest` is a tree of least objectives of B: those of the rows from `len(lowest)/2` on, above two places n and n + 1
    their least one at n/2. `used = [pairs, steps]`; both stop the work, above `most` and above `steps`. Multiplicities
    are not counted. Time: O((rows + pairs below the value that are cheap enough in the first cost) * log rows).
    """
    bounds, offsets, base, _, _ = blocks
    a_costs, a_obj, _, _ = a
    b_costs, _, _, _ = b
    rows = len(offsets) // len(base)
    leaves, most = len(lowest) // 2, len(plans) // 3
    for block in range(len(base)):
        a0, a1, b0, b1 = bounds[4 * block], bounds[4 * block + 1], bounds[4 * block + 2], bounds[4 * block + 3]
        shift = base[block]
        end = b0
        for i in range(a1 - 1, a0 - 1, -1):
            limit = -a_costs[i * rows] - offsets[block * rows]
            while end < b1 and b_costs[end * rows] <= limit:
                end += 1
            j = b0
            while j < end:  # jumps to the next row of B that is good enough
                used[1] += 1
                node = j + leaves
                while node > 0 and lowest[node] > value - a_obj[i] - shift:
                    while node & 1:
                        node >>= 1
                    if node > 0:
                        node += 1
                if node == 0:
                    break
                while node < leaves:
                    node *= 2
                    if lowest[node] > value - a_obj[i] - shift:
                        node += 1
                j = node - leaves
                if j >= end:
                    break
                fits = True
                for row in range(1, rows):
                    cost = a_costs[i * rows + row] + b_costs[j * rows + row] + offsets[block * rows + row]
                    if cost > 0:
                        fits = False
                        break
                if fits:
                    if used[0] < most:
                        at = 3 * used[0]
                        plans[at], plans[at + 1], plans[at + 2] = block, i, j
                    used[0] += 1
                j += 1
                if used[0] > most or used[1] > steps:
                    return


def radix_sort(keys: Any, spare: Any, counts: Any, low: int, digits: int) -> None:
    """Sorts `keys` by the bits from `low` on, stably: `digits` passes over as many bits as `counts[2^bits]` tells.

    `spare` has the length of `keys`; it and `counts` hold nothing of use, before or after. Time: O(len(keys) * digits).
    """
    mask, bits = len(counts) - 1, 0
    while 1 << bits <= mask:
        bits += 1
    for number in range(digits):
        shift = low + number * bits
        for place in range(mask + 1):
            counts[place] = 0
        for key in keys:
            counts[(key >> shift) & mask] += 1
        total = 0
        for place in range(mask + 1):
            total, counts[place] = total + counts[place], total
        for key in keys:
            place = (key >> shift) & mask
            spare[counts[place]] = key
            counts[place] += 1
        keys, spare = spare, keys
    if digits % 2:
        for place in range(len(keys)):
            spare[place] = keys[place]
