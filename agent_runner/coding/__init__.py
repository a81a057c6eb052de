"""Coding mode: an agent writes a Python program that calls the same tools, and that runs behind walls."""
