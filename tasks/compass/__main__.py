"""`python -m cobench.tasks.compass` is a worker process that fills slots; `making.py` starts it."""

from ...workers import serve
from .building import Builder

serve(lambda work: Builder(work).build)
