"""The words around the messages in an export that people read, in English and French.

Before ``: ; ! ?`` French has a narrow no-break space (U+202F).
"""

from typing import Literal

Language = Literal["en", "fr"]

WORDS: dict[str, dict[Language, str]] = {
    "you": {"en": "You", "fr": "Vous"},
    "direct": {"en": "Conversation with {agent}", "fr": "Conversation avec {agent}"},
    "members": {"en": "Members: {names}", "fr": "Membres\u202f: {names}"},
    "thought": {"en": "Thought", "fr": "Réflexion"},
    "plan": {"en": "Plan", "fr": "Plan"},
    "input": {"en": "Input", "fr": "Entrée"},
    "output": {"en": "Output", "fr": "Sortie"},
    "image": {"en": "Image ({kind})", "fr": "Image ({kind})"},
    "other": {"en": "Content of another kind", "fr": "Contenu d’un autre genre"},
    "is": {"en": "{what}: {why}", "fr": "{what}\u202f: {why}"},
    "error": {"en": "Error: {why}", "fr": "Erreur\u202f: {why}"},
    "stopped": {"en": "Ended: {reason}", "fr": "Fin\u202f: {reason}"},
    "cancelled": {"en": "Stopped", "fr": "Arrêté"},
    "lost": {"en": "[the rest is no longer kept]", "fr": "[la suite n’est plus conservée]"},
    "agent-joined": {"en": "{agent} joined", "fr": "{agent} a rejoint la conversation"},
    "agent-left": {"en": "{agent} left", "fr": "{agent} a quitté la conversation"},
    "no-recipient": {"en": "Nobody to answer", "fr": "Personne pour répondre"},
    "agent-unavailable": {"en": "{agent} didn’t answer", "fr": "{agent} n’a pas répondu"},
    "memory-lost": {
        "en": "{agent} doesn’t remember this conversation any more",
        "fr": "{agent} ne se souvient plus de cette conversation",
    },
    "login-needed": {"en": "{agent} needs a login", "fr": "{agent} demande une connexion"},
    "permission-ruled": {
        "en": "A rule of the configuration answered {agent}’s request",
        "fr": "Une règle de la configuration a répondu à la demande de {agent}",
    },
    "unreadable": {"en": "A message can’t be read", "fr": "Un message est illisible"},
    "mcp-left-out": {
        "en": "{agent} works without some MCP servers",
        "fr": "{agent} travaille sans certains serveurs MCP",
    },
}


def said(key: str, language: Language, **params: str) -> str:
    """The words for ``key``; a code that newer components say is shown as it is."""
    words = WORDS.get(key)
    return key if words is None else words[language].format(**params)
