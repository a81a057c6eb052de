"""`python -m cobench.suite` is a worker process; `executor.py` starts it."""

from .worker import serve

serve()
