"""Which query is answered by what. Each answer is made elsewhere; what takes long, in a thread."""

import asyncio
import contextlib
from pathlib import Path

from sk_bus import service as harness
from sk_bus.blobs import BlobStore
from sk_bus.errors import RefusedError, problem
from sk_bus.model import Channel, ChannelId
from sk_bus.queries import (
    Around,
    Blob,
    Commands,
    Conversation,
    Export,
    ExportPage,
    HistoryInfo,
    HistoryView,
    Import,
    ListChannels,
    Newer,
    Older,
    Permissions,
    Search,
)
from sk_history import exporting, pages
from sk_history.asked import asked
from sk_history.finding import found
from sk_history.fold import Fold
from sk_history.intake import Intake
from sk_history.markdown import Markdown
from sk_history.store import Reading, Store
from sk_history.texts import MOST, Plain, Whole
from sk_history.wording import said


def register(
    service: harness.Service, store: Store, fold: Fold, blobs: BlobStore, intake: Intake
) -> None:
    """Answer what the history is asked."""

    async def channels(_: ListChannels) -> object:
        return pages.channels(fold)

    async def conversation(query: Conversation) -> object:
        return pages.conversation(store, fold, query.channel)

    async def older(query: Older) -> object:
        return pages.older(store, fold, query.channel, query.before)

    async def newer(query: Newer) -> object:
        return pages.newer(store, fold, query.channel, query.after)

    async def around(query: Around) -> object:
        return pages.around(store, fold, query.channel, query.messageId)

    async def commands(query: Commands) -> object:
        return pages.commands(store, query.agent)

    async def permissions(_: Permissions) -> object:
        return pages.permissions(fold)

    async def blob(query: Blob) -> bytes:
        return await asyncio.to_thread(_piece, blobs, query)

    async def search(query: Search) -> object:
        ready = asked(query)
        searched: list[str] = list(fold.channels)
        return await asyncio.to_thread(found, store.frozen(), searched, ready, beginning(blobs))

    async def info(_: HistoryInfo) -> object:
        return await asyncio.to_thread(_info, service, store.frozen(), list(fold.channels))

    async def bring(query: Import) -> object:
        return await intake.bring(query.path)

    service.answers(ListChannels, channels)
    service.answers(Conversation, conversation)
    service.answers(Older, older)
    service.answers(Newer, newer)
    service.answers(Around, around)
    service.answers(Commands, commands)
    service.answers(Permissions, permissions)
    service.answers(Blob, blob)
    service.answers(Search, search)
    service.answers(HistoryInfo, info)
    service.answers(Import, bring)
    service.answers(Export, _Exporter(store, fold, blobs).piece)


class _Exporter:
    """Answers with pieces; the forms remember the last big text, as its next piece is to come."""

    def __init__(self, store: Store, fold: Fold, blobs: BlobStore) -> None:
        self._store = store
        self._fold = fold
        self._blobs = blobs
        self._forms: dict[str, exporting.Form] = {}

    async def piece(self, query: Export) -> ExportPage:
        """The piece that is asked for.

        Raises:
            RefusedError: a channel doesn't exist, or ``after`` is none of ours.
        """
        start = exporting.place(query.after)
        chosen = [self._known(id_) for id_ in query.channels] or list(self._fold.channels.values())
        chosen = [one for one in self._fold.channels.values() if one in chosen]
        whole = _entire(self._blobs, said("lost", query.language))
        text, after = await asyncio.to_thread(
            exporting.piece, self._store, chosen, self._form(query), start, whole
        )
        return ExportPage(text=text, next=None if after is None else after.text())

    def _known(self, channel: ChannelId) -> Channel:
        pages.known(self._fold, channel)
        return self._fold.channels[channel]

    def _form(self, query: Export) -> exporting.Form:
        name = f"{query.format} {query.language}"
        if name not in self._forms:
            form: exporting.Form = (
                exporting.JsonLines() if query.format == "jsonl" else Markdown(query.language)
            )
            self._forms[name] = exporting.Remembering(form)
        return self._forms[name]


def beginning(blobs: BlobStore) -> Whole:
    """Reads as much of a big text as is searched."""

    def whole(reference: Plain) -> str:
        try:
            with blobs.path(reference["sha256"]).open("rb") as file:
                return file.read(MOST).decode("utf-8", "ignore")
        except (ValueError, FileNotFoundError):
            return str(reference["head"])  # swept away under our feet, or never written

    return whole


def _entire(blobs: BlobStore, lost: str) -> Whole:
    """Reads a big text; where it is gone, its beginning and the words for that."""

    def whole(reference: Plain) -> str:
        try:
            return blobs.text(reference["sha256"])
        except (ValueError, FileNotFoundError):
            return f"{reference['head']}\n{lost}"

    return whole


def _info(service: harness.Service, store: Reading, channels: list[ChannelId]) -> HistoryView:
    directory = Path(service.hello.directory)
    return HistoryView(
        path=str(directory),
        size=sum(_size(directory / name) for name in ("history", "blobs")),
        channels=len(channels),
        messages=sum(pages.count(store, channel) for channel in channels),
    )


def _size(folder: Path) -> int:
    """Bytes of the files in a folder, some of which may go while they are counted."""
    size = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            size += file.stat().st_size
    return size


def _piece(blobs: BlobStore, query: Blob) -> bytes:
    try:
        with blobs.path(query.sha256).open("rb") as file:
            file.seek(max(query.offset, 0))
            return file.read(max(query.limit, 0))
    except (ValueError, FileNotFoundError) as error:
        raise RefusedError(
            problem("no-such-blob", "There is no blob {sha256}.", sha256=query.sha256)
        ) from error
