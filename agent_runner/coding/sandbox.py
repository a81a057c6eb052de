"""The walls around a program: bubblewrap, with a file system that holds an interpreter, its library, and nothing else.

There is no network, no file of the host besides those of Python, no `/proc`, no environment, and no other process.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...schemas.errors import InputError
from .syscalls import seccomp_filter

CLIENT = Path(__file__).with_name("client.py")
PYTHON = "/python"  # where the interpreter lies in the sandbox, wherever it lies on the host
WORK = "/tmp"  # noqa: S108  the sandbox's own
_DEVICES = ("null", "zero", "random", "urandom")
_LINKED = re.compile(r"^\s+(?P<name>\S+) => (?P<path>/\S.*) \(0x", re.MULTILINE)
_LOADER = re.compile(r"^\s+(?P<path>/\S+) \(0x", re.MULTILINE)
_OTHERS = ("site-packages", "dist-packages")  # packages that are no part of the standard library
_PATIENCE = 60  # seconds for the walls' own trial


class SandboxError(InputError):
    """Programs cannot be run behind walls here: what is missing, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How to start an interpreter behind walls: `prefix` is everything up to its own arguments."""

    prefix: tuple[str, ...]
    filter: bytes

    def start(self, arguments: tuple[str, ...], inherited: tuple[int, ...]) -> subprocess.Popen[bytes]:
        """The started process, leader of its own group, with pipes for stdout and stderr and these descriptors only.

        Whoever starts it ends it: killing it ends all that is inside.
        """
        rules, writing = os.pipe()
        try:
            os.write(writing, self.filter)  # below the 4 KiB that a pipe always takes
            os.close(writing)
            return subprocess.Popen(
                (self.prefix[0], "--seccomp", str(rules), *self.prefix[1:], *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(rules, *inherited),
                start_new_session=True,
                env={},
                cwd="/",
            )
        finally:
            os.close(rules)


@cache
def sandbox(files: int = 16 << 20) -> Sandbox:
    """The sandbox of this interpreter, tried once; raises SandboxError where there can be none.

    `files`: bytes that a program may write to its folder, which is in memory and gone when it ends.
    """
    if sys.platform != "linux":
        raise SandboxError("programs can be run in a sandbox on Linux only", hint="use the tools mode instead")
    program, rules = shutil.which("bwrap"), seccomp_filter()
    if program is None:
        raise SandboxError("no sandbox: bubblewrap is not installed", hint="install it: apt install bubblewrap")
    if rules is None:
        raise SandboxError(f"no sandbox for this processor: {os.uname().machine}", hint="x86_64 and aarch64 have one")
    made = Sandbox((program, *_walls(files), "--", *_interpreter()), rules)
    tried = made.start(("-c", "print(6 * 7)"), ())
    try:
        out, err = tried.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        tried.kill()
        out, err = tried.communicate()
    if out != b"42\n":
        said = err.decode("utf-8", "replace").strip()[-500:]
        hint = (
            "bubblewrap 0.8 or newer is needed, and user namespaces must be allowed (sysctl user.max_user_namespaces)"
        )
        raise SandboxError(f"no sandbox: {said or 'it does not start'}", hint=hint)
    return made


def _walls(files: int) -> list[str]:
    """What bubblewrap is told: nothing is shared, and what is there can only be read, but for one small folder."""
    walls = ["--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"]
    walls += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
    # The order of sets in a program must not change from run to run.
    environment = {"PATH": f"{PYTHON}/bin", "LD_LIBRARY_PATH": f"{PYTHON}/lib", "HOME": WORK, "LANG": "C.UTF-8"}
    environment |= {"PYTHONHASHSEED": "0", "TZ": "UTC"}
    for name, value in environment.items():
        walls += ["--setenv", name, value]
    for source, target in _files().items():
        walls += ["--ro-bind", source, target]
    library = f"{PYTHON}/{sys.platlibdir}/{Path(_library()).name}"
    for name in _OTHERS:
        if Path(_library(), name).is_dir():
            walls += ["--size", "4096", "--tmpfs", f"{library}/{name}", "--remount-ro", f"{library}/{name}"]
    for name in _DEVICES:
        walls += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    return [*walls, "--size", str(files), "--tmpfs", WORK, "--remount-ro", "/", "--chdir", WORK]


def _interpreter() -> list[str]:
    return [f"{PYTHON}/bin/python3", "-P", "-s", "-B", "-X", "utf8"]


def _files() -> dict[str, str]:
    """Host path -> path in the sandbox of the interpreter, what it is linked to, its library, and the client."""
    executable = os.path.realpath("/proc/self/exe")
    modules = sorted(map(str, Path(_library(), "lib-dynload").glob("*.so")))
    found = _linked(executable, *(path for path in modules if not Path(path).name.startswith(("_tkinter", "_test"))))
    library = Path(_library())
    return {
        executable: f"{PYTHON}/bin/python3",
        **found,
        str(library): f"{PYTHON}/{sys.platlibdir}/{library.name}",
        str(CLIENT): f"/{CLIENT.name}",
    }


def _library() -> str:
    """The folder of the standard library, also when this runs in a virtual environment."""
    return os.path.realpath(sysconfig.get_path("stdlib"))


def _linked(*binaries: str) -> dict[str, str]:
    """Host path -> path in the sandbox of the shared libraries that binaries need, and of what loads them."""
    ldd = shutil.which("ldd")
    if ldd is None:
        raise SandboxError("no sandbox: `ldd`, which comes with the C library, is not there")
    text = os.fsdecode(subprocess.run((ldd, *binaries), capture_output=True, timeout=_PATIENCE, check=False).stdout)
    found = {os.path.realpath(match["path"]): f"{PYTHON}/lib/{match['name']}" for match in _LINKED.finditer(text)}
    return found | {os.path.realpath(match["path"]): match["path"] for match in _LOADER.finditer(text)}
