"""Turns of phrase by which a message gives away what it does: it claims, softens, asks, accepts, or leaves its role.

Each pattern is linear in the length of what it is searched in.
"""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Softening: NO_MUST says so outright, SOFT does beside what it is about.
NO_MUST = _any(
    r"\boptional\b",
    r"\bnot (?:strictly |absolutely |really )?(?:necessary|required|mandatory|essential|important|crucial|vital)\b",
    r"n't (?:have to be )?(?:strictly |absolutely |really )?(?:necessary|required|mandatory|essential)\b",
    r"\bjust (?:a )?(?:wish|preference|suggestion)\b",
    r"\bnice[- ]to[- ]have\b",
    r"\bno big deal\b",
    r"\b(?:not|no|isn't) (?:a )?(?:must|deal[- ]?breaker)\b",
    r"\bif (?:it is |it's |that is |that's |at all )?possible\b",
    r"\bnegotiable\b(?<!non-negotiable)(?<!not negotiable)",
    r"\bcould (?:also )?(?:do|live) without\b",
    r"\bwouldn't mind if not\b",
)
SOFT = _any(
    r"\bideal(?:ly)?\b",
    r"\bprefer(?:ably|red|ence|s)?\b",
    r"\bwould be (?:so |really |very )?(?:nice|great|good|lovely|ideal|wonderful|welcome)\b",
    r"\bif you can\b",
    r"\bhopefully\b",
    r"\b(?:a|big|real|nice) (?:plus|bonus)\b",
    r"\btry to\b",
    r"\bflexible\b",
)

# Claims about a recommendation: who and what, and never what must be.
SUBJECT = _any(
    r"\byou\b",
    r"\byour\b",
    r"\b(?:this|that) (?:one|hotel|flight|permit|room|plan|trip|place|option)\b",
    r"\b(?:this|that) (?:is|does|doesn't|breaks|exceeds|violates)\b",
    r"\bthe (?:hotel|flight|permit|room|plan|trip|place|price|total|option|offer|one|ones|package)s?\b",
    r"\b(?:recommend|suggest|propos)\w*",
    r"\bit (?:breaks|exceeds|violates|ignores|does not|doesn't|is (?:over|above|too))\b",
)
CLAIMS = _any(
    r"\bviolat\w+",
    r"\bbreak(?:s|ing)\b",
    r"\bbroke\b",
    r"\bignor(?:es|ed|ing)\b",
    r"\boverlook(?:s|ed)\b",
    r"\b(?:does not|doesn't|do not|don't|did not|didn't) (?:even )?"
    r"(?:meet|satisfy|respect|fit|match|have|include|allow|fulfil|comply|offer|follow|stick)\b",
    r"\b(?:is|are|was|comes in|goes) (?:way |well |far )?"
    r"(?:over|above|beyond|outside|against|too|wrong|missing|under)\b",
    r"\bexceeds\b",
    r"\byou(?:'ve| have)? (?:missed|forgot|forgotten|failed)\b",
    r"\bnot what i (?:asked|said|wanted)\b",
    r"\bfails?\b",
    r"\bfalls short\b",
    r"\bconflicts with\b",
    r"\bcontrary to\b",
    r"\bhas no\b",
    r"\blacks\b",
)
MODAL = _any(r"\b(?:must|should|has to|have to|cannot|can't|may not|needs? to|so that|in case|if|whether|make sure)\b")
CLAIMS_LOOSELY = _any(
    CLAIMS.pattern,
    r"\b(?:not|over|exceed\w*|too|break|wrong|problem|against|unacceptable|off|mistake|broken?|miss\w*|forg[oe]t\w*)\b",
    r"\b(?:more|less) than\b",
    r"n't\b",
)
UNKNOWN = _any(
    r"\b(?:ids?|offers?|packages?|they|it|hotel|flight|permit|that|those|these|which)\b[^.?!]{0,40}"
    r"\b(?:(?:does|do) not|doesn't|don't) (?:even |seem to |actually )?exist",
    r"\b(?:cannot|can't|can not|couldn't|could not|unable to) (?:even )?(?:find|locate)\b",
    r"\bno such (?:id|offer|hotel|flight|permit|package)",
    r"\b(?:invalid|non-?existent|unknown|made[- ]up) (?:\w+ )?(?:ids?|offers?|packages?)\b",
    r"\bids?\b[^.?!]{0,30}\b(?:invalid|unknown|not found|made up|not valid)\b",
)

RECHECKS = _any(
    r"\b(?:double|re|cross)[- ]?check",
    r"\b(?:check\w*|verif\w+|review\w*|look\w* at|go(?:ing)? (?:over|through))\b[^.?!]{0,60}"
    r"\b(?:again|once more|one more time|another time)\b",
    r"\bre-?(?:verify|examine|confirm)\b",
    r"\b(?:second|another|fresh) look\b",
    r"\bare you (?:absolutely |really |quite )?(?:sure|certain)\b",
)
ASKS = _any(
    r"\b(?:formal|official|final|concrete|definite)(?:ly)?\b[^.?!]{0,40}\b(?:recommend|propos|offer|suggest)",
    r"\brecommend\w*\b[^.?!]{0,40}\b(?:formal|official)",
    r"\b(?:give|make|send|need|want|submit|provide|await|waiting for|have)\b[^.?!]{0,40}\brecommendation\b",
    r"\bwhat (?:exactly )?do you recommend\b",
    r"\brecommendation (?:required|needed|please)\b",
)
ACCEPTS = _any(
    r"\bi(?:'ll| will)? (?:gladly |happily )?accept (?:it|this|that|your|the)\b",
    r"\bi'll take it\b",
    r"\b(?:please |let's |go ahead and )book (?:it|this|that|them)\b",
    r"\bthat(?:'s| is) perfect\b",
    r"\bwe have a deal\b",
    r"\b(?:i am|i'm) (?:happy|satisfied) with (?:it|this|that|your|the)\b",
)
OUT_OF_ROLE = _any(
    r"\bas an? (?:ai|language model|assistant)\b",
    r"\b(?:language model|simulated user|system prompt|my instructions|the script|my persona)\b",
    r"\bhere(?:'s| is) (?:the|a|my|your) (?:message|paraphrase|rewritten|reply)\b",
    r"\b(?:i|we) (?:can |would |will |'ll )?recommend (?:the|you|this)\b",
    r"^\s*(?:user|assistant|system)\s*:",
    r"[{}<>]|```",
    r"\bhow (?:can|may) i (?:help|assist)\b",
)

# What is not to be, and any sign that something is not to be.
EXCLUDES = _any(r"\b(?:another|other)\b[^.]{0,30}\bthan\b", r"\bexcept\b", r"\bnot with\b", r"\bno (?:twin|bunk)s?\b")
NEGATES = _any(
    r"\b(?:no|not|never|none|without|except|neither|nor|cannot|exclud\w*|avoid|but|ruled out|out of the question)\b",
    r"\b(?:another|other)\b",
    r"n't\b",
)
