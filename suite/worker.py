"""The worker's end of `executor.py`: reads a job and chunks of tasks, answers task by task."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

READY = "ready"


def serve() -> None:
    """Answers what comes through the connection whose number is the first argument, until it is closed."""
    descriptor, parent = map(int, sys.argv[1:])
    _end_with(parent)
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        answer = connection.recv().begin()
        connection.send(READY)
        while True:
            for task in connection.recv():
                connection.send(answer(task))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent ended


def _end_with(parent: int) -> None:
    """Ends this process when its parent does, even in the middle of a task."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
