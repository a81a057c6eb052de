"""What is written down: tasks, expressions, manifests, plans, certificates, verdicts, units and errors."""
