"""What a program in the sandbox may not ask of the kernel, as a seccomp filter.

Namespaces already hide files, network and other processes. The filter is what bounds memory, since one process with a
limit on its address space is all there is, and it takes away calls that no program about hotels needs and that kernels
have had faults in. Everything else is allowed: the list of what an interpreter needs differs from version to version.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping

# Per machine: the kernel's name for it, the number of clone, and the numbers that are refused. Those from 424 on are
# the same everywhere. From the tables of Linux 6.1: arch/x86/entry/syscalls, include/uapi/asm-generic/unistd.h.
_EVERYWHERE: Mapping[str, int] = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "memfd_secret": 447,
}
REFUSED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "fork": 57,
        "vfork": 58,
        "socket": 41,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "mount": 165,
        "umount2": 166,
        "pivot_root": 155,
        "chroot": 161,
        "unshare": 272,
        "setns": 308,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "bpf": 321,
        "perf_event_open": 298,
        "userfaultfd": 323,
        "memfd_create": 319,
        "shmget": 29,
        "msgget": 68,
        "semget": 64,
        "mq_open": 240,
        "open_by_handle_at": 304,
        **_EVERYWHERE,
    },
    "aarch64": {
        "socket": 198,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "mount": 40,
        "umount2": 39,
        "pivot_root": 41,
        "chroot": 51,
        "unshare": 97,
        "setns": 268,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "bpf": 280,
        "perf_event_open": 241,
        "userfaultfd": 282,
        "memfd_create": 279,
        "shmget": 194,
        "msgget": 186,
        "semget": 190,
        "mq_open": 180,
        "open_by_handle_at": 265,
        **_EVERYWHERE,
    },
}
_MACHINE = {"x86_64": (0xC000003E, 56), "aarch64": (0xC00000B7, 220)}  # AUDIT_ARCH_…, clone
_CLONE3, _CLONE_THREAD, _X32 = 435, 0x10000, 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF: ld abs, jeq, jge, jset, ret
_NUMBER, _ARCH, _FIRST = 0, 4, 16  # offsets in struct seccomp_data; the lower half of the first argument
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000


def seccomp_filter(machine: str = "") -> bytes | None:
    """The filter as the kernel takes it (struct sock_filter[]); None for a machine whose numbers are not known here."""
    name = machine or platform.machine()
    if name not in _MACHINE:
        return None
    arch, clone = _MACHINE[name]
    refuse = _step(_RETURN, _ERROR | errno.EPERM)
    steps = [
        _step(_LOAD, _ARCH), _step(_EQUAL, arch, 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1), refuse,
    ]  # fmt: skip
    for number in sorted(REFUSED[name].values()):
        steps += [_step(_EQUAL, number, 0, 1), refuse]
    # The C library falls back from clone3, whose flags a filter cannot see, to clone; that may make threads only.
    steps += [_step(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]
    steps += [_step(_EQUAL, clone, 0, 3), _step(_LOAD, _FIRST), _step(_ANY_BIT, _CLONE_THREAD, 1, 0), refuse]
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
