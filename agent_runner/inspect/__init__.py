"""Conversations under Inspect (inspect_ai): the task `cobench/compass`, and built-in agents as the model `cobench/NAME`.

Inspect brings providers, retries, limits on tokens and cost, logs and a viewer; what happens in a conversation is decided
by `env` as everywhere.
"""
