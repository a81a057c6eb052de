"""The tools of the agent: what can be asked about parks, hotels, flights and permits."""
