"""The Agent Client Protocol: what we write to an agent, and what its frames mean."""
