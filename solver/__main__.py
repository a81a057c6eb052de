"""`python -m cobench.solver`: the child process in which `isolate` runs an engine."""

from .isolate import serve

serve()
