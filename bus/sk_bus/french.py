"""Problems in French, by their ids: the one catalogue for the page and the command line.

In English a problem is worded where it arises, by whoever knows the particulars. Here stand one or
several sentences for its id; the first one that the problem's params can fill is said. An id that
isn't here is shown in English, and so is one whose params come from another version.

``make gen`` writes ``ui-web/src/i18n/problems.fr.ts`` from it. Before ``: ; ! ?`` stands a narrow
no-break space (U+202F).
"""

from sk_bus.model import Problem

PROBLEMS: dict[str, str | tuple[str, ...]] = {
    "no-such-channel": "Cette conversation n’existe pas, ou plus.",
    "taken-back": "Retiré avant d’avoir reçu une réponse.",
    "not-waiting": "Ce message n’attend plus : il a reçu une réponse, ou a été retiré ou abandonné.",
    "agent-left": "{agent} a quitté le canal.",
    "session-reused": "{agent} a donné sa session à une autre conversation.",
    "being-deleted": "Cette conversation est en cours de suppression.",
    "direct-conversation": "C’est la conversation directe avec {agent} : créez un canal pour la nommer, ou pour parler à plusieurs agents.",
    "name-empty": "Il faut un nom au canal.",
    "name-too-long": "Le nom a {length} caractères ; {longest} au plus.",
    "name-taken": "Il y a déjà un canal {name} ; choisissez un autre nom.",
    "name-control": "Un nom ou une description tient sur une ligne, sans caractère de contrôle.",
    "description-too-long": "La description a {length} caractères ; {longest} au plus.",
    "not-a-member": "{agent} n’est pas membre de {channel} ; ses membres : {members}.",
    "session-twice": "{agent} a donné la même session à deux conversations ; redémarrez-le.",
    "no-recipient": "Personne n’a encore répondu ici : mentionnez {members}.",
    "no-members": "Personne n’est encore dans ce canal : mentionnez {agents}.",
    "no-agents": "Aucun agent n’est configuré : ajoutez-en un dans les réglages.",
    "permission-ruled": "« {tool} » a reçu la réponse « {option} » selon la règle {number} de {agent} ({rule}).",
    "no-such-agent": "Aucun agent ne s’appelle {agent}.",
    "no-such-message": "Ce message n’existe plus.",
    "nothing-to-find": "Cette recherche n’a pas de mot ; donnez un mot, un agent, un outil ou un chemin.",
    "no-such-page": "Cette page de résultats n’existe pas ; relancez la recherche.",
    "no-such-piece": "L’export a changé pendant la lecture ; recommencez-le.",
    "not-an-export": "Ligne {line} de {path} : {why}. Rien n’a été importé ; donnez un export au format JSON Lines.",
    "cannot-read-file": "{path} ne peut pas être lu : {why}.",
    "import-unfinished": "Les messages importés sont conservés, mais Sidekicks ne les montre pas encore ; importez le fichier à nouveau dans un moment.",
    "unreadable-message": "L’enregistrement de ce message est endommagé et ne peut pas être lu ; le reste de la conversation est intact.",
    "no-such-blob": "Ce contenu n’est plus conservé.",
    "no-such-option": "Cette réponse n’est pas proposée ; l’agent propose {offered}.",
    "no-such-permission": "Cette demande n’existe pas.",
    "no-longer-asked": "N’est plus demandé : une réponse a été donnée, ou la demande annulée.",
    "empty-text": "Le texte est vide.",
    "too-long": "Le texte dépasse 1 Mo. Raccourcissez-le, ou mettez-le dans un fichier dont vous donnez le nom.",
    "not-confirmed": "Cette page a été fermée avant de savoir si le message avait été envoyé.",
    "not-sent": "Non envoyé : Sidekicks s’est arrêté pendant que ce message attendait.",
    "interrupted": "Interrompu : Sidekicks s’est arrêté pendant cette réponse.",
    "cancelled": "annulé",
    "closing": "Sidekicks est en train de se fermer.",
    "opening": "Sidekicks est en train d’ouvrir {path} ; redemandez quand ce sera fait.",
    "empty-path": "Aucun fichier n’est nommé.",
    "is-folder": "{path} est un dossier ; nommez le fichier qui s’y trouve.",
    "no-such-file": "Le fichier {path} n’existe pas.",
    "out-of-reach": "{path} est hors de ce qui peut être choisi : {tops}.",
    "no-image": "{icon} n’est pas le chemin d’une image (PNG, JPEG, GIF, WebP ou SVG).",
    "big-icon": "{path} est trop grand pour une icône : {most} ko suffisent.",
    "unreadable": "{path} ne peut pas être lu : {reason}.",
    "too-many-agents": "Trop d’agents en marche : {count} agent(s) occupé(s) ({names}), la limite est {limit}.",
    "too-many-calls": "Trop de demandes de cette page à la fois ; attendez-en une.",
    "internal-error": "Sidekicks a fait une erreur ; `sk-cli logs gateway` en dit plus.",
    "agent-removed": "L’agent a quitté la configuration.",
    "agent-stopped": "L’agent a été arrêté.",
    "agent-ended": "{agent} s’est arrêté de lui-même ({how}).",
    "agent-finished": "{agent} s’est arrêté de lui-même, sans erreur ({how}).",
    "agent-crashed": "{agent} a planté ({how}).",
    "agent-killed": "{agent} a été tué de l’extérieur ({how}) : par quelqu’un, ou faute de mémoire.",
    "start-failed": "{agent} s’est arrêté pendant son démarrage ({how}).",
    "not-started": "Le système n’a démarré aucun processus : {why}.",
    "start-late": "{agent} n’a pas répondu à initialize en {seconds} s.",
    "session-late": "{agent} n’a pas répondu à {method} en {seconds} s.",
    "session-gone": "{agent} n’a plus sa session : {said}",
    "nothing-replayed": "{agent} ne savait rien de sa session.",
    "cannot-load": "{agent} ne sait pas reprendre une session.",
    "login-needed": "{agent} demande une connexion à un compte ({said}). Moyens proposés : {offered}. Connectez-vous avec son propre programme, puis renvoyez le message.",
    "mcp-left-out": "{agent} n’accepte pas de serveurs MCP par {transports} : {count} sur {all} ont été omis.",
    "no-session": "{agent} n’a pas ouvert de session.",
    "no-stop-reason": "{agent} n’a pas dit comment sa réponse s’est terminée.",
    "wrong-protocol": "{agent} parle la version {version} d’ACP ; Sidekicks parle la version {ours}.",
    "did-not-answer-cancel": "L’agent n’a pas répondu à l’annulation.",
    "shim-lost": "Le processus qui tenait l’agent a disparu, et l’agent avec lui.",
    "unattended": "L’agent a été arrêté : Sidekicks était absent depuis trop longtemps.",
    "closed-its-pipes": "L’agent a fermé son entrée ou sa sortie, et a été arrêté.",
    "line-lost": "Ce qui devait lui être écrit est perdu : {why}.",
    "holder-failed": "Le processus qui devait tenir l’agent s’est arrêté : {why}",
    "command-not-found": "La commande {command} est introuvable. Installez-la, ou donnez son chemin complet.",
    "not-on-path": "{command} est introuvable dans le PATH ({path}). Installez-le, ou donnez son chemin complet.",
    "cwd-missing": "Son dossier {cwd} n’existe pas ; créez-le ou nommez-en un autre.",
    "cwd-unusable": "Son dossier {cwd} est inutilisable : {why}. Corrigez cela ou nommez-en un autre.",
    "not-executable": "{file} ne peut pas être exécuté : {why}.",
    "definition-missing": "La définition de cet agent manque ; enregistrez la configuration à nouveau.",
    "no-supervisor": "{component} ne peut pas être redémarré, car supervisord ne répond pas ; lancez `make up` dans un terminal.",
    "supervisor-refused": "supervisord a refusé de redémarrer {component} : {why}",
    "no-such-component": "Il n’y a pas de composant {component}.",
    "unreachable": "Le service ne répond pas pour le moment ; réessayez.",
    "command-late": "Pas terminé en {seconds} s. Cela peut encore se faire : regardez la conversation, ou `sk-cli status`, avant de recommencer.",
    "not-offered": "Ce n’est pas encore proposé.",
    # What is wrong with a configuration file, as sk-config says it.
    "yaml-tab": "Une tabulation n’a pas sa place ici : indentez avec des espaces.",
    "yaml-documents": "Un seul document suffit : retirez ce qui suit ---.",
    "yaml-alias": "Un alias (*) sans son ancre (&) : mettez la valeur entre guillemets.",
    "yaml-anchor": "Cette ancre (&) existe déjà plus haut : renommez-la.",
    "yaml-colon": "Un deux-points est inattendu ici : vérifiez l’indentation, cherchez plus haut un deux-points sans espace derrière, ou mettez des guillemets.",
    "yaml-dash": "Un élément de liste (-) ne peut pas commencer ici : mettez-le sur sa propre ligne.",
    "yaml-list": "Une liste entre crochets n’est pas fermée : il manque une virgule ou un ].",
    "yaml-mapping": "Un ensemble entre accolades n’est pas fermé : il manque une virgule ou l’accolade.",
    "yaml-no-colon": "Il manque un deux-points après la clé.",
    "yaml-indentation": "Ceci ne va pas avec les lignes du dessus : vérifiez l’indentation.",
    "yaml-quotes": "Des guillemets ouverts ne sont jamais fermés.",
    "yaml-start": "Un texte ne peut pas commencer par {character} : mettez-le entre guillemets.",
    "yaml-escape": "Entre guillemets doubles, une barre oblique inverse a un autre sens : doublez-la, ou prenez des guillemets simples.",
    "yaml-open": "Un crochet ou une accolade ouverts ne sont jamais fermés.",
    "yaml-value": "Il manque une valeur ici.",
    "yaml-character": "Un caractère qui ne peut pas figurer en YAML : retirez-le.",
    "yaml": "Ceci ne se lit pas comme du YAML : vérifiez les guillemets et l’indentation.",
    "unknown-tag": "Une étiquette YAML (point d’exclamation) qui n’a pas de sens ici : retirez-la.",
    "bad-key": "Une clé est un texte simple.",
    "bad-merge": "<< prend un ensemble de champs, ou une liste de tels ensembles.",
    "bad-value": "Cette valeur n’est pas ce que dit son étiquette ou son aspect : mettez-la entre guillemets.",
    "bad-character": "Un caractère qui ne peut pas figurer dans un texte ici.",
    "duplicate-key": "{key} figure ici une seconde fois (d’abord à la ligne {first}).",
    "too-deep": "Les valeurs sont imbriquées trop profondément, ou sans fin.",
    "too-many": "Plus de {limit} valeurs.",
    "file-too-long": "Le fichier dépasse {limit} caractères.",
    "not-utf8": "Le fichier doit être un texte en UTF-8 ; il y a autre chose ici.",
    "no-mapping": "Le fichier est un ensemble de champs, tels que agents et limits.",
    "wrong-type": (
        "L’entrée {entry} de {field} doit être {expected}, mais est {given} : {hint}.",
        "L’entrée {entry} de {field} doit être {expected}, mais est {given}.",
        "{field} doit être {expected}, mais est {given} : {hint}.",
        "{field} doit être {expected}, mais est {given}.",
    ),
    "unknown-field": (
        "Champ inconnu {field} : {nearest} se place sous {section}.",
        "Champ inconnu {field} : vouliez-vous dire {nearest} ?",
        "Champ inconnu {field} ; ici sont connus {known}.",
    ),
    "missing-field": (
        "Un serveur MCP du type {kind} demande {field}.",
        "{field} manque.",
    ),
    "out-of-range": (
        "{field} est l’un de : {expected}.",
        "{field} vaut au moins {least}.",
        "{field} a au plus {most} {unit}.",
        "{field} vaut au plus {most}.",
        "De {low} à {high}, ou {never}.",
        "De {low} à {high}.",
        "{field} ne peut pas être vide.",
    ),
    "odd-number": "YAML lit ceci comme {number} : écrivez-le ainsi.",
    "bad-name": "Un nom a de 1 à 32 lettres, chiffres, - _ ou . et commence et finit par une lettre ou un chiffre.",
    "bad-duration": "Une durée s’écrit 90s, 10m, 1h30m, 0 ou never.",
    "bad-variable-name": "Le nom d’une variable n’est pas vide et n’a pas de =.",
    "duplicate-name": "Un second agent nommé {name} (le premier est {first}) ; majuscules et minuscules ne comptent pas.",
    "unset-variable": "La variable {name} n’est pas définie là où Sidekicks a été lancé : définissez-la et relancez Sidekicks.",
    "unfilled-variable": "{variable} n’est pas remplacé : écrivez {braced}.",
    "no-such-folder": "Le dossier {path} n’existe pas : créez-le, ou nommez-en un autre.",
    "unknown-kind": "Aucun appel d’outil d’ACP n’est du genre {kind} ; sont connus {known}.",
    "file-changed": "Le fichier a changé depuis qu’il a été lu : rechargez-le d’abord.",
    "unwritable": "{path} ne peut pas être écrit : {reason}.",
    "closed": "La connexion à sk-{service} a été coupée ; réessayez.",
    "command-id-used": "L’identifiant {id} est déjà celui d’une autre demande ; prenez-en un autre.",
    "fault": "Sidekicks a échoué sur cette demande ; le journal de sk-router dit pourquoi.",
    "full": "Le journal du bus est plein ; {producer} attend.",
    "malformed-call": "Cet appel est mal formé.",
    "malformed-command": (
        "La demande {command} n’a pas été prise : {why}.",
        "Une demande est un objet avec un type.",
    ),
    "malformed-query": "{name} ne peut pas être lu.",
    "malformed-request": "Le bus ne peut pas lire cette demande.",
    "no-such-call": "Il n’y a pas d’appel {name}.",
    "query-failed": "sk-{service} n’a pas su répondre ; son journal dit pourquoi.",
    "unknown-command": "Il n’y a pas de demande {command} ; les demandes sont : {known}.",
    "unknown-query": "sk-{service} ne répond pas à {name}.",
}


# What the params in `WORDED` may hold, English in themselves; in front of a number, how it begins.
WORDS: dict[str, str] = {
    "text": "du texte",
    "a whole number": "un nombre entier",
    "true or false": "true ou false",
    "a list": "une liste",
    "a mapping": "un ensemble de champs",
    "a mapping of fields": "un ensemble de champs",
    "true or false (as YAML reads yes, no, on and off)": "true ou false (ainsi YAML lit yes, no, on et off)",
    "a number (as YAML reads 8080, 012 and 12:30)": "un nombre (ainsi YAML lit 8080, 012 et 12:30)",
    "a date": "une date",
    "a tagged value": "une valeur étiquetée",
    "an unreadable value": "illisible",
    "empty": "vide",
    "put it in quotes": "mettez-le entre guillemets",
    "take the quotes away": "retirez les guillemets",
    "write it with digits alone": "écrivez-le en chiffres seuls",
    "write [ ] around it, or each entry in a line that begins with -": "mettez-le entre [ ], ou chaque élément sur une ligne qui commence par -",
    "characters": "caractères",
    "entries": "éléments",
    "Permission denied": "accès refusé",
    "Is a directory": "c’est un dossier",
    "Not a directory": "ce n’est pas un dossier",
    "No such file or directory": "fichier ou dossier inexistant",
    "No space left on device": "plus de place sur le disque",
    "Read-only file system": "système de fichiers en lecture seule",
    "File name too long": "nom trop long",
    "Too many levels of symbolic links": "trop de liens à suivre",
    "it is no ordinary file": "ce n’est pas un fichier ordinaire",
    "it is too large to be a configuration": "c’est trop grand pour une configuration",
    "it is no UTF-8 text": "ce n’est pas un texte en UTF-8",
}
BEGINNINGS: dict[str, str] = {"exit code ": "code de sortie "}
WORDED = ("expected", "given", "hint", "how", "unit", "reason")


def in_french(problem: Problem) -> str | None:
    """The problem in French; ``None`` where its kind or its params aren't known here."""
    known = PROBLEMS.get(problem.id, ())
    for sentence in (known,) if isinstance(known, str) else known:
        try:
            return sentence.format_map(_Spoken(problem.params))
        except KeyError:
            continue
    return None


class _Spoken(dict[str, object]):
    def __getitem__(self, key: str) -> object:
        value = super().__getitem__(key)
        if key in WORDED and isinstance(value, str):
            value = _worded(value)
        return f"{value:g}".replace(".", ",") if isinstance(value, float) else value


def _worded(value: str) -> str:
    for english, french in BEGINNINGS.items():
        if value.startswith(english):
            return french + value.removeprefix(english)
    return WORDS.get(value, value)
