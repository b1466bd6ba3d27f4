"""The properties of the parsers, tried for as long as one likes: ``make fuzz SECONDS=600``."""
