"""Questions about all plans of a task, and about the task itself."""
