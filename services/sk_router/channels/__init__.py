"""Conversations: who answers, in which order, and what an answer is made of."""
