"""Agents at work on tasks: how their plans are scored."""
