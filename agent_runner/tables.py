"""A run as three tables: a row for each conversation, for each turn of them, and for each call of a tool.

docs/runs.md says what the columns are. Amounts are exact and may be larger than 64 bits, so they are decimal text, in
`unit` times `scale`; the columns whose names end in `_float` are the same for plotting.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..schemas.canonical import canonical_bytes, narrow
from ..schemas.episode import Answered, Episode, Regret, TurnRecord
from .verdict_files import VERDICT, verdict_columns

_TEXT, _NUMBER, _FLAG = pa.string(), pa.int64(), pa.bool_()
_TEXTS = pa.list_(_TEXT)
_ABOUT = {"task": _TEXT, "agent": _TEXT, "epoch": _NUMBER}
_PERSONA = {"revelation": _TEXT, "trust": _TEXT, "checking": _TEXT, "style": _NUMBER, "permille": _NUMBER}
_TRAITS = {
    "level": _NUMBER, "objective": _TEXT, "metric": _TEXT, "wishes": _NUMBER, "constraints": _NUMBER, "later": _NUMBER,
}  # fmt: skip
_REGRET = dict.fromkeys(("shown_best", "exploration", "reasoning"), _TEXT)
_TOKENS = dict.fromkeys(("tokens_read", "tokens_written", "user_tokens_read", "user_tokens_written"), _NUMBER)
TABLES: Mapping[str, Mapping[str, Any]] = {
    "samples": {
        **_ABOUT, "mode": _TEXT, "seed": _NUMBER, **_PERSONA, **_TRAITS,
        "turns": _NUMBER, "told": _NUMBER, "answered_at": _NUMBER, "ended": _TEXT,
        "calls": _NUMBER, "failed_calls": _NUMBER, "effort": _NUMBER, "yield": _NUMBER,
        **VERDICT, **_REGRET, **_TOKENS, "task_digest": _TEXT, "certificate_digest": _TEXT, "wording": _TEXT,
    },
    "turns": {
        **_ABOUT, "turn": _NUMBER, "user_text": _TEXT,
        "revealed": _TEXTS, "flagged": _TEXTS, "restated": _TEXTS, "asked": _FLAG, "recheck": _FLAG,
        "user_faults": _TEXTS, "agent_text": _TEXT, "answered": _TEXT, "repaired": _FLAG, "format_error": _TEXT,
        "options": _TEXT, "validated": _FLAG, "calls": _NUMBER, **VERDICT, **_REGRET, **_TOKENS,
    },
    "calls": {
        **_ABOUT, "turn": _NUMBER, "number": _NUMBER, "tool": _TEXT, "arguments": _TEXT, "fault": _TEXT,
        "inner": _FLAG, "offers": pa.list_(pa.struct({"choice": _TEXT, "ids": _TEXTS}.items())),
    },
}  # fmt: skip


def table_bytes(name: str, episodes: Sequence[Episode]) -> bytes:
    """A table of TABLES as Parquet, its rows in the order of the episodes; equal for equal ones with one pyarrow."""
    rows = {"samples": _samples, "turns": _turns, "calls": _calls}[name](episodes)
    stream = io.BytesIO()
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(TABLES[name].items()))
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _samples(episodes: Sequence[Episode]) -> Iterator[dict[str, Any]]:
    for item in episodes:
        formal = [turn.number for turn in item.turns if turn.answered is Answered.RECOMMENDATION]
        yield {
            **verdict_columns(item.verdict),
            **_about(item),
            "mode": item.mode,
            "seed": item.seed,
            **item.persona.model_dump(),
            **item.traits.model_dump(),
            "turns": len(item.turns),
            "told": item.told,
            "answered_at": formal[-1] if formal else None,
            "ended": item.ended.value,
            "calls": len(item.calls),
            "failed_calls": sum(call.fault is not None for call in item.calls),
            "effort": item.effort,
            "yield": item.found,
            **_regret(item.regret),
            **_tokens(item.turns),
            "task_digest": item.task_digest,
            "certificate_digest": item.certificate_digest,
            "wording": item.wording,
        }


def _turns(episodes: Sequence[Episode]) -> Iterator[dict[str, Any]]:
    for item in episodes:
        for turn in item.turns:
            yield {
                **verdict_columns(turn.verdict),
                **_about(item),
                "turn": turn.number,
                "user_text": turn.user,
                "revealed": turn.revealed,
                "flagged": turn.flagged,
                "restated": turn.restated,
                "asked": turn.asked,
                "recheck": turn.recheck,
                "user_faults": [fault.value for fault in turn.user_faults],
                "agent_text": turn.agent,
                "answered": turn.answered.value,
                "repaired": turn.repaired,
                "format_error": turn.reason or None,
                "options": canonical_bytes([plan.written() for plan in turn.options]).decode().strip(),
                "validated": turn.validated,
                "calls": turn.calls,
                **_regret(turn.regret),
                **_tokens([turn]),
            }


def _calls(episodes: Sequence[Episode]) -> Iterator[dict[str, Any]]:
    for item in episodes:
        for number, call in enumerate(item.calls, 1):
            yield {
                **_about(item),
                "turn": call.turn,
                "number": number,
                "tool": call.tool,
                "arguments": call.arguments,
                "fault": None if call.fault is None else call.fault.value,
                "inner": call.inner,
                "offers": [{"choice": choice, "ids": ids} for choice, ids in sorted(call.offers.items())],
            }


def _about(item: Episode) -> dict[str, Any]:
    return {"task": item.task, "agent": item.agent, "epoch": item.epoch}


def _regret(found: Regret | None) -> dict[str, Any]:
    amounts = {name: None if found is None else getattr(found, name) for name in _REGRET}
    return {name: None if amount is None else str(narrow(amount)) for name, amount in amounts.items()}


def _tokens(turns: Sequence[TurnRecord]) -> dict[str, Any]:
    return {
        "tokens_read": sum(turn.usage.read for turn in turns),
        "tokens_written": sum(turn.usage.written for turn in turns),
        "user_tokens_read": sum(turn.user_usage.read for turn in turns),
        "user_tokens_written": sum(turn.user_usage.written for turn in turns),
    }
