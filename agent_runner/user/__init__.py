"""The simulated user: who it is, what it decides to say, and how it says it."""
