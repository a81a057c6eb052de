"""Proofs of an optimum for outsiders, and the page of code that checks them."""
