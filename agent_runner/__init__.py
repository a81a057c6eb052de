"""Agents at work on tasks: the episode loop, the tools they call, and how their plans are scored."""
