"""Suites of thousands of tasks: certified by many processes, stopped and resumed at any moment, merged at the end."""
