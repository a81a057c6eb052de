"""The parks world: synthetic travel offers around twenty U.S. national parks in August 2025."""
