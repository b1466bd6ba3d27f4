"""The one decider: who answers, when agents start and stop, what is said to them and to people."""
