"""One more loop of the scan, in the form that `kernels` describes: sets of rows as bits, for several rows at once."""

from __future__ import annotations

from typing import Any

WORD = 62  # bits of an int64 that are used: none of the sums and shifts below leaves it
MARKS = 1 << 20  # words that the marks of one linear row may take


def sweep_bits(
    blocks: Any, a: Any, b: Any, wanted: Any, place: Any, in_order: Any, values: Any, ranked: Any,
    costs: Any, found: Any, best_of_a: Any, best_of_block: Any, below: Any, equal: Any, fits: Any, every: Any,
    part: Any, ones: Any, marks: Any,
) -> None:  # fmt: skip
    """The same as `sweep`, without a tally, for any number of rows R, where no rows of B were merged.

    Bit `place[j]` stands for row j of B: its position in the group by objective, from 0; `in_order[b0..]` are the
    rows of the group and `values[b0..]` their objectives in that order. For row r, from 1, `costs[(r-1)*m + b0..]` are
    the costs of the group in ascending order, and `ranked` the bits of the same rows of B. Which rows are cheap enough
    in r is a prefix of that order, taken from the last of the `marks`, one every so many rows, and what is left.
    `fits`, `every`, `part` and `ones` have a word for each 62 rows of a group; nothing in them matters on entry.
    Time: O(rows of A * (rows of B / 62 + 64) * R).
    """
    bounds, offsets, base, _, blocks_times = blocks
    a_costs, a_obj, a_mult, _ = a
    b_costs, b_obj, _, _ = b
    rows, size = len(offsets) // len(base), len(b_obj)
    for block in range(len(base)):
        a0, a1, b0, b1 = bounds[4 * block], bounds[4 * block + 1], bounds[4 * block + 2], bounds[4 * block + 3]
        shift = base[block]
        words = (b1 - b0 + WORD - 1) // WORD
        spacing = max(64, (b1 - b0) * words // MARKS + 1)
        stride = ((b1 - b0) // spacing + 1) * words
        for word in range(words):
            fits[word] = 0
        for row in range(1, rows):
            for word in range(words):
                part[word] = 0
            for k in range(b1 - b0 + 1):
                if k % spacing == 0:
                    at = (row - 1) * stride + k // spacing * words
                    for word in range(words):
                        marks[at + word] = part[word]
                if k < b1 - b0:
                    bit = ranked[(row - 1) * size + b0 + k]
                    part[bit // WORD] |= 1 << bit % WORD
        j = b0
        for i in range(a1 - 1, a0 - 1, -1):
            limit = -a_costs[i * rows] - offsets[block * rows]
            while j < b1 and b_costs[j * rows] <= limit:
                fits[place[j] // WORD] |= 1 << place[j] % WORD
                j += 1
            for word in range(words):
                every[word] = fits[word]
            for row in range(1, rows):
                limit = -a_costs[i * rows + row] - offsets[block * rows + row]
                first = (row - 1) * size + b0
                at, high = first, first + b1 - b0
                while at < high:
                    middle = (at + high) // 2
                    if costs[middle] <= limit:
                        at = middle + 1
                    else:
                        high = middle
                mark = (at - first) // spacing
                for word in range(words):
                    part[word] = marks[(row - 1) * stride + mark * words + word]
                for k in range(first + mark * spacing, at):
                    part[ranked[k] // WORD] |= 1 << ranked[k] % WORD
                for word in range(words):
                    every[word] &= part[word]
            inside = 0
            for word in range(words):
                ones[word] = inside
                x = every[word]  # the usual way to count ones
                x -= (x >> 1) & 0x5555555555555555
                x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
                x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
                inside += ((x * 0x0101010101010101) >> 56) & 0x7F
            if inside == 0:
                continue
            times = blocks_times[block]
            if len(a_mult) > 0:
                times *= a_mult[i]
            found[0] += inside * times
            sum_of_a = a_obj[i] + shift
            word = 0
            while every[word] == 0:
                word += 1
            bit, x = word * WORD, every[word]
            while x & 1 == 0:
                bit, x = bit + 1, x >> 1
            best, best_row = values[b0 + bit], in_order[b0 + bit]
            tied, after, less = 0, 0, 0
            for t in range(2 * len(wanted) + 1):  # how many are up to the best; below each value wanted, and up to it
                limit = best + 1 if t == 0 else wanted[(t - 1) // 2] - sum_of_a + (t - 1) % 2
                at, high = b0, b1
                while at < high:
                    middle = (at + high) // 2
                    if values[middle] < limit:
                        at = middle + 1
                    else:
                        high = middle
                at -= b0
                up_to = inside
                if at < b1 - b0:
                    x = every[at // WORD] & ((1 << at % WORD) - 1)
                    x -= (x >> 1) & 0x5555555555555555
                    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
                    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
                    up_to = ones[at // WORD] + (((x * 0x0101010101010101) >> 56) & 0x7F)
                if t == 0:
                    tied, after = up_to, at
                elif t % 2:
                    below[(t - 1) // 2] += up_to * times
                    less = up_to
                else:
                    equal[(t - 1) // 2] += (up_to - less) * times
            value = sum_of_a + best
            if len(best_of_a) > 0 and value < best_of_a[i]:
                best_of_a[i] = value
            if len(best_of_block) > 0 and value < best_of_block[block]:
                best_of_block[block] = value
            if value < found[1]:
                found[3], found[1], found[2] = found[1], value, tied * times
                found[4], found[5], found[6] = i, best_row, block
            elif value == found[1]:
                found[2] += tied * times
            elif value < found[3]:
                found[3] = value
            if tied < inside:
                word = after // WORD
                bit, x = after, every[word] >> after % WORD
                while x == 0:
                    word += 1
                    bit, x = word * WORD, every[word]
                while x & 1 == 0:
                    bit, x = bit + 1, x >> 1
                value = sum_of_a + values[b0 + bit]
                if found[1] < value < found[3]:
                    found[3] = value
