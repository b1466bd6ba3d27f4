"""Agents as the router sees them: one life each, and how many may live at once."""
