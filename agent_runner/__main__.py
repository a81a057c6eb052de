"""`python -m cobench.agent_runner` is a worker process in which built-in agents talk; `batch.py` starts it."""

from ..workers import serve
from .batch import Talking

serve(Talking)
