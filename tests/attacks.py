"""Programs that try to get out of the sandbox, or to take more than their share.

Each prints BREACH when it has succeeded. `@…@` names what a test fills in: `secret` is a word that stands in `file`, in
the environment and in the memory of the host; `root` is the folder of cobench; `tcp`, `udp`, `path` and `abstract` are
where the host listens; `host` is its process id. SYS calls the kernel past all of Python.
"""

from __future__ import annotations

from dataclasses import dataclass

SYS = """
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
def SYS(x86, arm, *given):
    ctypes.set_errno(0)
    number = x86 if platform.machine() == "x86_64" else arm
    return libc.syscall(number, *[ctypes.c_void_p(x) if isinstance(x, int) else x for x in given])
def worked(*given):
    if SYS(*given) >= 0: print("BREACH")
    else: print("refused:", errno.errorcode[ctypes.get_errno()])
"""


@dataclass(frozen=True)
class Attack:
    """`outside`: it does no harm where there are no walls, and succeeds there, which a test shows.

    `ends`: how it must end, where that is what the attack is about. `endless`: it goes on until its time is over.
    """

    name: str
    source: str
    outside: bool = False
    ends: str = ""
    endless: bool = False


READ_AND_TELL = """
import sys
def tell(path):
    with open(path, "rb") as file:
        if b"@secret@" in file.read(): print("BREACH")
"""

FILES = (
    Attack("a file of the host", READ_AND_TELL + "tell('@file@')", outside=True),
    Attack("a file of the host, past the root", READ_AND_TELL + "tell('/../../../..' + '@file@')", outside=True),
    Attack(
        "a file of the host, by a symbolic link",
        READ_AND_TELL + "import os, tempfile\nlink = tempfile.mkdtemp() + '/x'\nos.symlink('@file@', link)\ntell(link)",
        outside=True,
    ),
    Attack(
        "a file of the host, through the root of another process",
        READ_AND_TELL
        + "import glob\nfor x in glob.glob('/proc/[0-9]*/root'):\n"
        + "    try: tell(x + '@file@')\n    except OSError: pass",
        outside=True,
    ),
    Attack("a file of the host, by its URL", "from urllib.request import urlopen\n"
           "if b'@secret@' in urlopen('file://@file@').read(): print('BREACH')", outside=True),
    Attack("a file of the host, as a database", "import sqlite3\n"
           "sqlite3.connect('file:@file@?mode=ro', uri=True)\nopen('@file@').read()\nprint('BREACH')", outside=True),
    Attack("the folder of cobench", "import os\nif os.listdir('@root@'): print('BREACH')", outside=True),
    Attack("the users of the host", "if 'root' in open('/etc/passwd').read(): print('BREACH')", outside=True),
    Attack("the homes of the host", "import os\nfor x in ('/root', '/home'):\n"
           "    if os.path.exists(x): print('BREACH')", outside=True),
    Attack("every file there is, but for the standard library", """
import os
for folder, folders, names in os.walk("/"):
    if folder == os.path.dirname(os.__file__): folders.clear()
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and b"@secret@" in open(path, "rb").read(): print("BREACH", path)
"""),
    Attack("a folder that belongs to the host's /tmp",
           "import os\nif os.listdir('/tmp'): print('BREACH')", outside=True),
    Attack("the environment of the first process", READ_AND_TELL + "tell('/proc/1/environ')"),
    Attack("the environment of the host's process",
           READ_AND_TELL + "tell('/proc/@host@/environ')\nopen('/proc/@host@/environ').read()\n"
           "print('BREACH')", outside=True),
    Attack("the memory of the host's process", "open('/proc/@host@/mem', 'rb').read(0)\nprint('BREACH')", outside=True),
    Attack("what is mounted where", "print('BREACH', open('/proc/self/mountinfo').read())", outside=True),
    Attack("the maps of its own memory", "print('BREACH', open('/proc/self/maps').read())", outside=True),
    Attack("the settings of the kernel", "open('/proc/sys/kernel/pid_max').read()\nprint('BREACH')", outside=True),
    Attack("the devices of the host", "import os\nif os.listdir('/sys/class'): print('BREACH')", outside=True),
    Attack("devices beyond the four", "import os\n"
           "if set(os.listdir('/dev')) - {'null', 'zero', 'random', 'urandom'}: print('BREACH')", outside=True),
    Attack("the terminal", "open('/dev/tty', 'w')\nprint('BREACH')"),
    Attack("a disk, by a device file of its own", """
import os, stat
os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))
os.open("disk", os.O_RDONLY)
print("BREACH")
"""),
    Attack("a file by its handle",
           SYS + "worked(304, 265, 0, 0, 0)\nworked(304, 265, -100, ctypes.create_string_buffer(128), 0)"),
    Attack("another root", "import os\nos.chroot('/tmp')\nprint('BREACH')"),
    Attack("a program that lies about where it is", "import os\nos.chdir('/')\nfor _ in range(50): os.chdir('..')\n"
           "if os.path.exists('.' + '@file@'): print('BREACH')", outside=True),
)  # fmt: skip

WRITING = (
    Attack("to change the standard library", "import os\nopen(os.__file__, 'a').write('')\nprint('BREACH')"),
    Attack("to change the client", "open('/client.py', 'a').write('')\nprint('BREACH')"),
    Attack("to change the client by its mode", "import os\nos.chmod('/client.py', 0o777)\nprint('BREACH')"),
    Attack("to write into the root", "open('/x', 'w')\nprint('BREACH')"),
    Attack("to write among the devices", "open('/dev/x', 'w')\nprint('BREACH')"),
    Attack("to leave a package for the next program", """
import site
for folder in site.getsitepackages():
    try: open(folder + "/sitecustomize.py", "w")
    except OSError as fault: print(fault)
    else: print("BREACH")
"""),
    Attack("to leave bytecode for the next program", """
import importlib.util, json
open(importlib.util.cache_from_source(json.__file__), "ab")
print("BREACH")
"""),
    Attack("to remove a module", "import os, json\nos.remove(json.__file__)\nprint('BREACH')"),
    Attack("to rename the library", "import os\nos.rename(os.path.dirname(os.__file__), 'x')\nprint('BREACH')"),
    Attack("to get at the client by a hard link", "import os\nos.link('/client.py', 'x')\nprint('BREACH')"),
    Attack("to make the root writable again",
           SYS + "worked(165, 40, b'none', b'/', None, 32 | 4096, None)\nopen('/x', 'w')\nprint('BREACH')"),
    Attack("to mount something", SYS + "worked(165, 40, b'tmpfs', b'/tmp', b'tmpfs', 0, None)"),
    Attack("to unmount something", SYS + "worked(166, 39, b'/tmp', 2)"),
    Attack("to mount by the newer calls", SYS + "worked(430, 430, b'tmpfs', 0)\nworked(428, 428, -100, b'/', 1)"),
)  # fmt: skip

INSIDE = (
    Attack("a secret of the environment", "import os\nif '@secret@' in str(os.environ): print('BREACH')", outside=True),
    Attack("a secret of the environment, past Python",
           "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
           "if libc.getenv(b'COBENCH_SECRET'): print('BREACH')", outside=True),
    Attack("descriptors left open", """
import os, stat
found = []
for fd in range(3, 1024):
    try: found.append(stat.S_ISFIFO(os.fstat(fd).st_mode))
    except OSError: pass
if found != [True, True]: print("BREACH", found)
"""),
    Attack("all objects in memory", """
import gc
def search():
    word = "@backwards@"[::-1]
    for thing in gc.get_objects():
        if isinstance(thing, dict | list | tuple | set | frozenset):
            if any(isinstance(x, str) and word in x for x in (thing.values() if isinstance(thing, dict) else thing)):
                print("BREACH")
search()
"""),
    Attack("the frames below", """
import sys
frame = sys._getframe()
while frame:
    print(sorted(frame.f_locals), frame.f_code.co_filename)
    start = frame.f_locals.get("start")
    if start and set(start) != {"source", "tools", "most", "limits"}: print("BREACH")
    frame = frame.f_back
"""),
    Attack("cobench", "import cobench\nprint('BREACH')", outside=True),
    Attack("cobench by its path",
           "import sys\nsys.path.insert(0, '@root@/..')\nimport cobench\nprint('BREACH')", outside=True),
    Attack("the tables, by polars", "import polars\nprint('BREACH')", outside=True),
    Attack("packages of the host", """
import importlib.metadata
if list(importlib.metadata.distributions()): print("BREACH")
""", outside=True),
    Attack("to install packages",
           "import runpy, sys\nsys.argv = ['pip', 'install', 'cobench']\nrunpy.run_module('pip')\n"
           "print('BREACH')"),
    Attack("to install pip", "import ensurepip\nensurepip.bootstrap()\nprint('BREACH')"),
    Attack("the name and the user of the host", "import os, socket\n"
           "if os.getuid() != 65534 or os.uname().nodename != 'sandbox': print('BREACH')", outside=True),
)  # fmt: skip

NETWORK = (
    Attack("TCP", "import socket\nsocket.create_connection(('127.0.0.1', @tcp@), 1)\nprint('BREACH')", outside=True),
    Attack("TCP by IPv6", "import socket\nsocket.socket(socket.AF_INET6).close()\nprint('BREACH')", outside=True),
    Attack("TCP by asyncio", "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', @tcp@))\n"
           "print('BREACH')", outside=True),
    Attack("HTTP", "import http.client\nhttp.client.HTTPConnection('127.0.0.1', @tcp@).connect()\n"
           "print('BREACH')", outside=True),
    Attack("UDP", "import socket\nx = socket.socket(type=socket.SOCK_DGRAM)\n"
           "x.sendto(b'hello', ('127.0.0.1', @udp@))\nx.close()\nprint('BREACH')", outside=True),
    Attack("names of hosts", "import socket\nsocket.getaddrinfo('example.com', 80)\nprint('BREACH')"),
    Attack("a socket file", "import socket\nx = socket.socket(socket.AF_UNIX)\nx.connect('@path@')\nx.close()\n"
           "print('BREACH')", outside=True),
    Attack("an abstract socket",
           "import socket\nx = socket.socket(socket.AF_UNIX)\nx.connect('\\0@abstract@')\nx.close()\n"
           "print('BREACH')", outside=True),
    Attack("netlink", "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()\n"
           "print('BREACH')", outside=True),
    Attack("packets", "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)\nprint('BREACH')"),
    Attack("the machine below", "import socket\nsocket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\nprint('BREACH')"),
    Attack("a socket past Python", SYS + "worked(41, 198, 2, 1, 0)", outside=True),
    Attack("to listen", "import socket\nsocket.create_server(('127.0.0.1', 0)).close()\nprint('BREACH')", outside=True),
    Attack("requests in a ring", SYS + "worked(425, 425, 8, ctypes.create_string_buffer(256))"),
    Attack("interfaces besides the loopback", "import socket\n"
           "if [x for _, x in socket.if_nameindex() if x != 'lo']: print('BREACH')"),
)  # fmt: skip

PROCESSES = (
    Attack("another process", "import os\nif os.fork() == 0: os._exit(0)\nos.wait()\nprint('BREACH')", outside=True),
    Attack("another process past Python",
           SYS + "pid = SYS(57, 220, 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)\n"
           "if pid > 0: print('BREACH')", outside=True),
    Attack("another process by clone",
           SYS + "pid = SYS(56, 220, 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)\n"
           "if pid > 0: print('BREACH')", outside=True),
    Attack("another process by clone3", SYS + "pid = SYS(435, 435, (ctypes.c_uint64 * 8)(0, 0, 0, 0, 17), 64)\n"
           "if pid == 0: os._exit(0)\nif pid > 0: print('BREACH')", outside=True),
    Attack("a fork bomb", "import os\nwhile True:\n    os.fork()\n    print('BREACH', flush=True)"),
    Attack("a shell",
           "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'true'], check=True)\nprint('BREACH')", outside=True),
    Attack("a shell in its own place", "import os\nos.execv('/bin/sh', ['sh', '-c', 'echo BREACH'])", outside=True),
    Attack("a shell by system", "import os\nif os.system('true') == 0: print('BREACH')", outside=True),
    Attack("another interpreter", "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''], check=True)\n"
           "print('BREACH')", outside=True),
    Attack("a process of multiprocessing", "import multiprocessing as m\nm.set_start_method('fork')\n"
           "x = m.Process(target=print)\nx.start()\nx.join()\nprint('BREACH')", outside=True),
    Attack("a file of memory to run", SYS + "worked(319, 279, b'x', 0)", outside=True),
    Attack("the parent, by a debugger", SYS + "worked(101, 117, 16, os.getppid(), 0, 0)"),
    Attack("to be debugged", SYS + "worked(101, 117, 0, 0, 0, 0)"),
    Attack("the memory of the first process", SYS + "worked(310, 270, 1, 0, 0, 0, 0, 0)"),
    Attack("to write into the memory of the first process", SYS + "worked(311, 271, 1, 0, 0, 0, 0, 0)"),
    Attack("descriptors of the first process", SYS + "fd = SYS(434, 434, 1, 0)\nworked(438, 438, fd, 0, 0)"),
    Attack("to kill the host",
           "import os, signal\nos.kill(@host@, 0)\nos.kill(@host@, signal.SIGCONT)\nprint('BREACH')", outside=True),
    Attack("to kill its parent", """
import os, signal, time
for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGSTOP, signal.SIGKILL):
    try: os.kill(os.getppid(), sign)
    except OSError as fault: print(fault)
time.sleep(0.1)
print("still here")
"""),
    Attack("to kill all", "import os, signal\nos.kill(-1, signal.SIGKILL)"),
    Attack("to kill its group", "import os, signal\nos.killpg(0, signal.SIGKILL)", ends="failed"),
    Attack("to be the superuser", "import os\nos.setuid(0)\nprint('BREACH')"),
    Attack("to be the superuser in all three", "import os\nos.setresuid(0, 0, 0)\nprint('BREACH')"),
    Attack("other groups", "import os\nos.setgroups([0])\nprint('BREACH')"),
    Attack("capabilities", SYS + """
head = (ctypes.c_uint32 * 2)(0x20080522, 0)
caps = (ctypes.c_uint32 * 6)()
SYS(125, 90, head, caps)
if any(caps): print("BREACH")
caps[:] = [1 << 21] * 6
worked(126, 91, head, caps)
"""),
    Attack("new privileges", SYS + "if libc.prctl(39, 0, 0, 0, 0) != 1: print('BREACH')", outside=True),
    Attack("a user namespace", SYS + "worked(272, 97, 0x10000000)"),
    Attack("a namespace of mounts", SYS + "worked(272, 97, 0x20000)"),
    Attack("the namespace of another", SYS + "worked(308, 268, 0, 0)"),
    Attack("to go around the filter by the other numbers", SYS + "worked(0x40000000 + 41, 41 + 0x40000000, 2, 1, 0)"),
    Attack("the keys of the kernel", SYS + "worked(250, 219, 0, -3, 1)"),
    Attack("a program in the kernel", SYS + "worked(321, 280, 0, ctypes.create_string_buffer(128), 128)"),
    Attack("counters of the kernel", SYS + "worked(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
    Attack("faults of pages in its hands", SYS + "worked(323, 282, 0)"),
    Attack("shared memory", SYS + "worked(29, 194, 0, 4096, 0o1600)", outside=True),
    Attack("a queue of messages", SYS + "worked(68, 186, 0, 0o1600)", outside=True),
    Attack("a higher priority", "import os\nos.setpriority(os.PRIO_PROCESS, 0, -20)\nprint('BREACH')"),
    Attack("to be scheduled before all", "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n"
           "print('BREACH')"),
    Attack("the clock", "import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)\nprint('BREACH')"),
    Attack("to restart the machine", SYS + "worked(169, 142, 0xfee1dead, 672274793, 0x89ABCDEF, 0)"),
)  # fmt: skip

SHARES = (
    Attack("memory, by doubling", "x = b'x'\nwhile len(x) < 1 << 33: x += x\nprint('BREACH')", ends="failed"),
    Attack("memory, by one mapping", "import mmap\nmmap.mmap(-1, 4 << 30)\nprint('BREACH')", ends="failed"),
    Attack("memory, by many mappings", "import mmap\nx = [mmap.mmap(-1, 1 << 26) for _ in range(100)]\nprint('BREACH')",
           ends="failed"),
    Attack("threads without end", """
import threading
threading.stack_size(32 << 10)
event = threading.Event()
try:
    for count in range(100_000): threading.Thread(target=event.wait, daemon=True).start()
    print("BREACH")
finally:
    print(count)
    event.set()
""", endless=True),
    Attack("the disk", "with open('x', 'wb') as file:\n    for _ in range(1000): file.write(bytes(1 << 20))\n"
           "print('BREACH')", ends="failed"),
    Attack("the disk, by many files", """
for number in range(100):
    with open(str(number), "wb") as file: file.write(bytes(1 << 20))
print("BREACH")
""", ends="failed"),
    Attack("the disk, by a file with a hole", "import os\nos.truncate(os.open('x', os.O_CREAT | os.O_RDWR), 1 << 40)\n"
           "print('BREACH')", ends="failed"),
    Attack("descriptors", "import os\nx = [os.pipe() for _ in range(1000)]\nprint('BREACH')", ends="failed"),
    Attack("higher limits", """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    try: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, PermissionError) as fault: print(fault)
    else: print("BREACH")
"""),
    Attack("time, with no memory for the first process", "import resource\n"
           "resource.prlimit(1, resource.RLIMIT_AS, (1 << 20, 1 << 20))\n"
           "while True: pass", ends="time limit", endless=True),
    Attack("a dump of its memory",
           "import os, resource\nif resource.getrlimit(resource.RLIMIT_CORE) != (0, 0): print('BREACH')\n"
           "os.abort()", ends="failed"),
    Attack("time, in a loop", "while True: pass", ends="time limit", endless=True),
    Attack("time, asleep", "import time\ntime.sleep(10_000)", ends="time limit", endless=True),
    Attack("time, stopped", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", ends="time limit", endless=True),
    Attack("time, deaf to signals",
           "import signal\nfor x in set(signal.Signals) - {9, 19}: signal.signal(x, signal.SIG_IGN)\n"
           "while True: pass", ends="time limit", endless=True),
    Attack("time, within a regular expression",
           "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", ends="time limit", endless=True),
    Attack("time, with nothing to listen at",
           "import os\nos.closerange(0, 64)\nwhile True: pass", ends="time limit", endless=True),
    Attack("output without end", "while True: print('x' * 100_000)", ends="time limit", endless=True),
    Attack("complaints without end",
           "import sys\nwhile True: sys.stderr.write('x' * 100_000)", ends="time limit", endless=True),
    Attack("the stack", "import sys\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(200_000): x = [x]\nrepr(x)\n"
           "print('BREACH')", ends="failed"),
    Attack("a fault of memory", "import ctypes\nctypes.string_at(0)\nprint('BREACH')", ends="failed"),
)  # fmt: skip

RAW = """
import json, os
call = __import__("tools").calendar
channel = [x.cell_contents for x in call.__closure__ if type(x.cell_contents).__name__ == "Channel"][0]
out, back = channel._requests.fileno(), channel._answers.fileno()
def ask(name, arguments):
    os.write(out, json.dumps({"name": name, "arguments": arguments}).encode() + b"\\n")
    return json.loads(channel._answers.readline())
"""

NAMES = ("__class__", "__init__", "__dict__", "_judge", "_tools", "case", "call", "episode", "submit", "score_turn",
         "user_reply", "script", "user", "persona", "shown", "hear", "stop", "search_hotel.__globals__",
         "search_hotel;import os", "../toolbox", "", "\0", "tools")  # fmt: skip

CHANNEL = (
    Attack("names that are no tools", RAW + f"for name in {NAMES!r}:\n"
           "    if ask(name, {}).get('fault') != 'name': print('BREACH', name)"),
    Attack("an answer as a request", RAW + "os.write(out, b'{\"fault\": null, \"content\": 1}\\n')\n"
           "while True: pass", ends="protocol"),
    Attack("a request with more in it",
           RAW + "os.write(out, b'{\"name\": \"calendar\", \"arguments\": {}, \"inner\": false}\\n')\n"
           "while True: pass", ends="protocol"),
    Attack("a request without end", RAW + "while True: os.write(out, b'x' * 60_000)", ends="protocol"),
    Attack("bytes that are no text",
           RAW + "os.write(out, bytes(range(256)) + b'\\n')\nwhile True: pass", ends="protocol"),
    Attack("nothing", RAW + "os.write(out, b'\\n' * 1000)\nwhile True: pass", ends="protocol"),
    Attack("brackets", RAW + "os.write(out, b'[' * 60_000 + b'\\n')\nwhile True: pass", ends="protocol"),
    Attack("a number that is none",
           RAW + "os.write(out, b'{\"name\": \"calendar\", \"arguments\": {\"date\": NaN}}\\n')\n"
           "while True: pass", ends="protocol"),
    Attack("a number of 60,000 digits",
           RAW + "os.write(out, b'{\"name\": \"calendar\", \"arguments\": {\"date\": ' + b'9' * 60_000 + b'}}\\n')\n"
           "while True: pass", ends="protocol"),
    Attack("a pickle", RAW + "import pickle\nclass X:\n    def __reduce__(self): return os.system, ('echo BREACH',)\n"
           "os.write(out, pickle.dumps(X(), 0) + b'\\n')\nwhile True: pass", ends="protocol"),
    Attack("requests whose answers nobody reads",
           RAW + "line = json.dumps({'name': 'calendar', 'arguments': {'date': '2026-08-07'}}).encode() + b'\\n'\n"
           "while True: os.write(out, line * 100)", ends="limit", endless=True),
    Attack("half a request", RAW + "os.write(out, b'{\"name\": ')\nwhile True: pass", ends="time limit", endless=True),
    Attack("answers of its own making", RAW + "os.write(back, b'x')\nprint('BREACH')"),
    Attack("the answers of others",
           RAW + "os.set_blocking(back, False)\nprint(os.read(back, 100_000))\nprint('BREACH')"),
    Attack("a descriptor sent along", RAW + "import socket\nx = socket.socket(fileno=out)\n"
           "socket.send_fds(x, [b'x'], [0])\nprint('BREACH')"),
    Attack("to close the channel and go on", RAW + "os.close(out)\nos.close(back)\nprint('over')", ends="finished"),
    Attack("keys that come twice",
           RAW + "os.write(out, b'{\"name\": \"calendar\", \"name\": \"_judge\", \"arguments\": {}}\\n')\n"
           "if json.loads(channel._answers.readline()).get('fault') != 'name': print('BREACH')"),
    Attack("half of a character",
           RAW + "if ask('calendar', {'date': '\\ud800'})['fault'] is None: print('BREACH')"),
)  # fmt: skip

ATTACKS = (*FILES, *WRITING, *INSIDE, *NETWORK, *PROCESSES, *SHARES, *CHANNEL)
