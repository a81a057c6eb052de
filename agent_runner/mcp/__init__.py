"""The tools of one task for any client of the Model Context Protocol, which brings an agent with a loop of its own."""
