"""Every text that a person reads from `sk-cli`, once in each language."""
