"""The independent checker: it shares no code with lowering and engines."""
