"""What the COMPASS paper reports, as it reports it. Theirs, of their models, tasks and data: never beside ours.

`era`: v2 for the paper's main tables; v1 for studies of its appendix, which are of older models and fit 241 tasks as
well as 281.
"""

from __future__ import annotations

from dataclasses import dataclass

V1, V2 = "v1", "v2"


@dataclass(frozen=True, slots=True)
class Reference:
    """A table of the paper: percentages and probabilities as printed."""

    name: str
    title: str
    era: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


STABILITY_RUNS = {
    "OR-5": ("33.97", "34.96", "33.44", "31.92", "34.43"),
    "OR-10": ("39.76", "41.60", "40.56", "39.44", "41.04"),
    "OR-20": ("47.44", "53.36", "54.96", "52.80", "54.40"),
    "FR": ("68.80", "68.80", "67.20", "68.80", "66.08"),
}
STABILITY = {
    "OR-5": ("33.74", "1.04"), "OR-10": ("40.48", "0.80"), "OR-20": ("52.59", "2.69"), "FR": ("67.94", "1.12"),
}  # fmt: skip
TRUST = {  # questioning, trusting, p
    "GPT-5": ("52.4", "55.6", "0.69"), "Claude Opus 4": ("44.1", "37.8", "0.38"), "GPT-4o": ("25.8", "26.5", "0.91"),
    "Qwen3 8B": ("14.6", "15.3", "0.89"), "Qwen3 14B": ("18.3", "16.7", "0.77"), "Qwen3 32B": ("18.9", "18.1", "0.89"),
    "Gemini 2.5 Pro": ("34.5", "31.5", "0.67"),
}  # fmt: skip

REFERENCES = (
    Reference(
        "gap", "The gap between feasible and optimal, in %", V2, ("models", "FR", "optimality rate"),
        (
            ("closed models", "70–90", "20–50 (text) or 20–60 (figure); about 20 points below FR for all"),
            ("Claude Sonnet 4.6", "–", "OR-10: 57"),
            ("Claude Sonnet 4.6, writing code", "–", "OR-10: 66"),
        ),
    ),
    Reference(
        "tool-errors", "Calls of tools with errors, in %", V2, ("model", "name", "parameter", "content", "all"),
        (
            ("Claude Opus 4.6, writing code", "0", "0", "0.10", "0.10"), ("Claude Opus 4.6", "0", "0", "0.30", "0.30"),
            ("Claude Sonnet 4.6, writing code", "0", "0", "0.40", "0.40"),
            ("Claude Sonnet 4.6", "0", "0", "0.51", "0.51"), ("GPT-5", "0", "0.04", "1.41", "1.45"),
            ("Gemini 2.5 Pro", "0.16", "0.04", "1.38", "1.58"), ("Gemini 2.5 Flash", "0", "2.36", "0.10", "2.46"),
            ("Qwen3 14B", "0", "4.88", "0.72", "5.60"), ("Qwen3 32B", "0", "5.00", "3.85", "8.85"),
            ("Qwen3 8B", "0.14", "10.81", "1.08", "12.03"),
        ),
    ),
    Reference(
        "stability", "Five runs of Claude Sonnet 4, in %", V1, ("rate", "mean", "standard deviation", "runs"),
        tuple((name, *STABILITY[name], ", ".join(STABILITY_RUNS[name])) for name in STABILITY),
    ),
    Reference(
        "styles", "Variation of OR-5 over the nine styles, in %", V1, ("model", "CV"),
        (
            ("GPT-5", "12.85"), ("Claude Opus 4", "18.90"), ("GPT-4.1", "26.49"), ("GPT-4o", "28.89"),
            ("Gemini 2.5 Pro", "29.61"), ("Qwen3 14B", "29.97"), ("Qwen3 32B", "38.75"), ("Qwen3 8B", "43.12"),
        ),
    ),
    Reference(
        "trust", "OR-5 by trust, in %", V1, ("model", "questioning", "trusting", "p"),
        tuple((name, *row) for name, row in TRUST.items()),
    ),
)  # fmt: skip
