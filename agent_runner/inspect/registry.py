"""What Inspect finds by the entry point `inspect_ai`: importing this registers all of it."""

from .conversation import conversation
from .provider import cobench
from .scorer import exploration, gap, outcome, rank, reasoning
from .task import compass

__all__ = ["cobench", "compass", "conversation", "exploration", "gap", "outcome", "rank", "reasoning"]
