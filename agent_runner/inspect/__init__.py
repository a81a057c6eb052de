"""Conversations under Inspect: the task `cobench/compass`, and built-in agents as the models `cobench/NAME`.

Inspect brings providers, retries, limits on tokens and cost, logs and a viewer; `env` decides what happens in a
conversation, as everywhere.
"""
