"""The loops of the scan, and how a model's rows are laid out for them."""
