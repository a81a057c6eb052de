"""From a task on a dataset to certificates: lowering, engines, certifying, ranking, and the independent checker."""
