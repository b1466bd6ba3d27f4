"""An agent's icon where it is an image: read for the page, which can't open files.

What a file is, its first bytes say, not its name; an SVG is drawn as an image, so its scripts are
dead. A big one is refused: it is drawn smaller than a thumbnail, and travels whole.
"""

import base64
import re
import stat
from pathlib import Path

from sk_bus.errors import RefusedError, problem
from sk_bus.queries import IconView

MOST = 256 * 1024  # bytes
_KINDS = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    ("image/svg+xml", re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml|<!--|<!DOCTYPE svg|<svg)")),
)


def read(icon: str) -> IconView:
    """The image at the path ``icon``.

    Raises:
        RefusedError: it is no path, or not an image that can be shown.
    """
    if "/" not in icon:
        raise RefusedError(problem("no-image", "{icon} is not the path of an image", icon=icon))
    try:
        path = Path(icon)
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise RefusedError(problem("no-image", "{icon} is not the path of an image", icon=icon))
        with path.open("rb") as file:
            data = file.read(MOST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RefusedError(
            problem("unreadable", "{path} can't be read: {reason}", path=icon, reason=reason)
        ) from error
    if len(data) > MOST:
        message = "{path} is too big for an icon: {most} kB are enough"
        raise RefusedError(problem("big-icon", message, path=icon, most=MOST // 1024))
    for kind, begins in _KINDS:
        if begins.match(data):
            return IconView(mimeType=kind, data=base64.b64encode(data).decode())
    raise RefusedError(problem("no-image", "{icon} is not the path of an image", icon=icon))
