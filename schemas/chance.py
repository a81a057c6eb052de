"""The only source of chance in task making, conversations and agents: addressed draws, the same on every machine.

A draw depends on what it is for and never on how many draws came before, so that what one agent does changes nothing
in what another meets.
"""

from __future__ import annotations

from hashlib import blake2b


def drawn(below: int, *address: int | str) -> int:
    """An integer in [0, below) for an address such as (seed, task, epoch, "reveal", turn); 0 < below <= 2^32.

    The first 64 bits of BLAKE2b over the address, times the bound, over 2^64 (fixed point, so next to no bias).
    """
    text = "/".join(map(str, address))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") * below >> 64
