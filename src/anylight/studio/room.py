"""What is going on in the studio: the open session, what is read or run, and who hears of it."""

import asyncio
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from anylight.errors import InvalidInputError

from .balloon import STEPS
from .child import DONE, FAILED, Limits, Message
from .choices import chosen
from .errands import Errands
from .gallery import Gallery
from .hub import Hub
from .limits import reading_limits
from .outcome import Outcome
from .reading import Facts
from .running import Running
from .session import Session, painted_mask
from .shelf import kept_choices, kept_facts, session_folder
from .telling import told
from .uploads import Upload, UploadLimits, safe_title

_READING = {"read": "Reading the photos", "mask": "Finding the object",
            "examine": "Looking at the photos", "render": "Making the example"}  # fmt: skip


class BusyError(InvalidInputError):
    """Not now: something else is going on, or another tab was first."""


class Room:
    """The one place where things change; everything here runs on the server's own thread."""

    def __init__(
        self,
        home: Path,
        upload_limits: UploadLimits | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Open an empty room.

        Args:
            home: where session folders are made.
            upload_limits: how much may be sent.
            limits: what reading may use.
        """
        self.home = home
        self.private = Path(tempfile.mkdtemp(prefix="anylight-studio-"))
        self.hub = Hub()
        self.session: Session | None = None
        self.reading: dict[str, Any] | None = None
        self.running: Running | None = None
        self.upload: Upload | None = None
        self.message = ""
        self.revision = 0
        self._upload_limits = upload_limits or UploadLimits()
        self._limits = limits or reading_limits()
        self._errands = Errands()
        self._gallery = Gallery()
        self.developing = asyncio.Semaphore(2)
        """How many photos are made into pictures at once: they may be large."""
        self._writing = asyncio.Lock()
        self._warm: asyncio.Task[None] | None = None

    def close(self) -> None:
        """End what runs and forget what is private."""
        self._errands.close()
        shutil.rmtree(self.private, ignore_errors=True)

    # Telling

    def changed(self) -> None:
        """Tell every tab how things are now."""
        self.revision += 1
        self.hub.say("state", state=self.state())

    def state(self) -> dict[str, Any]:
        """Everything that a page shows, as plain values."""
        session = self.session
        return {
            "revision": self.revision,
            "message": self.message,
            "reading": self.reading,
            "run": None if self.running is None else self.running.told(),
            "session": None if session is None else told(session),
        }

    # Opening

    def start_upload(self) -> Upload:
        """Begin to take a folder; an earlier one that was not opened is forgotten."""
        self._refuse_if_busy()
        if self.upload is not None:
            self.upload.drop()
        folder = Path(tempfile.mkdtemp(prefix="upload-", dir=self.private))
        self.upload = Upload(folder, self._upload_limits)
        return self.upload

    def open_upload(self, key: str, title: str) -> None:
        """Read the folder that was sent."""
        if self.upload is None or self.upload.key != key:
            raise BusyError("another tab has sent other photos; drop these again.")
        self.open(self.upload.capture(), safe_title(title))

    def open(self, source: Path | None, title: str) -> None:
        """Read a capture in a child process; None: the example."""
        self._refuse_if_busy()
        folder = session_folder(self.home, source, title)
        if folder.exists():
            source = folder
        cache = Path(tempfile.mkdtemp(prefix="capture-", dir=self.private))
        self.reading, self.message = {"task": "Reading the photos", "share": 0.0}, ""
        arguments = {
            "source": "" if source is None else str(source),
            "folder": str(folder),
            "cache": str(cache),
        }
        self._errands.start(
            "anylight.studio.reading:read",
            arguments,
            partial(self._read, folder, cache),
            self._limits,
        )
        self.changed()

    def _read(self, folder: Path, cache: Path, message: Message) -> None:
        if message["kind"] == "share":
            task = _READING.get(message["task"], message["task"])
            self.reading = {"task": task, "share": message["share"]}
            self.hub.say("reading", reading=self.reading)
            return
        self.reading = None
        if message["kind"] == FAILED:
            self.message = message["sentence"]
            shutil.rmtree(cache, ignore_errors=True)
        elif message["kind"] == DONE:
            facts = kept_facts(folder, msgspec.convert(message["result"], Facts))
            before, self.running = self.session, None
            self._gallery.clear()
            self.session = Session(folder, cache, facts, kept_choices(folder))
            self.session.write()
            self._warm = asyncio.create_task(self._warmed(self.session))
            if before is not None:
                shutil.rmtree(before.cache, ignore_errors=True)
            if self.upload is not None:
                self.upload.drop()
                self.upload = None
        self.changed()

    async def _warmed(self, session: Session) -> None:
        """Inflate what the slider may ask for, so that it does not wait for it."""
        found = await asyncio.to_thread(session.inflatable)
        if found is None:
            return
        for step in range(STEPS + 1):
            if self.session is not session or (self.running and not self.running.is_over):
                return
            await asyncio.to_thread(found.inflated, step)

    # Choosing

    def open_session(self) -> Session:
        """The session.

        Raises:
            BusyError: nothing is open.
        """
        if self.session is None:
            raise BusyError("open some photos first.")
        return self.session

    async def choose(self, path: list[str], value: Any) -> None:
        """Change one choice, named by the way to it; None takes a choice back."""
        session = self.open_session()
        session.choices = chosen(session.choices, path, value)
        await self.written()

    async def paint(self, number: int, painted: bytes) -> None:
        """Take a mask that was painted on the mask of a number."""
        session = self.open_session()
        if number != session.mask_number:
            raise BusyError("the mask was changed in another tab; its version is shown now.")
        session.repaint(painted_mask(painted, session.view_mask().shape))
        await self.written()

    def propose(self) -> None:
        """Make a mask from the photos, in a child process."""
        session = self.open_session()
        self._refuse_if_busy()
        self.reading = {"task": "Finding the object", "share": 0.0}

        def hear(message: Message) -> None:
            if message["kind"] == "share":
                return
            self.reading = None
            if message["kind"] == FAILED:
                self.message = message["sentence"]
            elif message["kind"] == DONE and self.session is session:
                mask = np.load(session.cache / "proposal.npy", allow_pickle=False)
                session.replace_mask(mask, "made from the photos")
                session.write()
            self.changed()

        arguments = {"cache": str(session.cache)}
        self._errands.start("anylight.studio.reading:propose", arguments, hear, self._limits)
        self.changed()

    async def written(self) -> None:
        """Bring the session's folder up to date, then tell."""
        session = self.open_session()
        async with self._writing:
            await asyncio.to_thread(session.write)
        if session.is_other_silhouette():
            self._warm = asyncio.create_task(self._warmed(session))
        self.changed()

    async def balloon(self, volume: float | None, number: int) -> bytes | None:
        """The balloon of a volume."""
        session = self.open_session()
        found = await asyncio.to_thread(session.inflatable)
        return None if found is None else await asyncio.to_thread(found.balloon, volume, number)

    # Running

    async def run(self, action: str) -> None:
        """Start, pause, resume or stop."""
        if action == "start":
            await self._start()
        elif self.running is not None:
            self.running.ask(action)
        self.changed()

    async def _start(self) -> None:
        session = self.open_session()
        self._refuse_if_busy()
        session.choices.asked()
        out = session.next_result()
        running = Running(int(out.name), session.choices.method())
        self.running, self.message = running, ""
        async with self._writing:
            await asyncio.to_thread(session.write)

        def hear(message: Message) -> None:
            running.hear(message)
            if message["kind"] == "frame":
                self.hub.show("glimpse", message["frame"])
            elif message["kind"] == "step":
                self.hub.say("step", run={**running.told(), "energies": running.energies[-1:]},
                             steps=len(running.energies))  # fmt: skip
            else:
                self.changed()

        values = {
            "folder": str(session.folder),
            "out": str(out),
            "choices": msgspec.to_builtins(session.choices),
        }
        running.child = self._errands.start("anylight.studio.solving:solve", values, hear, Limits())

    def outcome(self, number: int) -> tuple[Outcome, Session]:
        """A result to look at, and whose it is.

        Raises:
            KeyError: there is no such result.
        """
        session = self.open_session()
        return self._gallery.outcome(session, number), session

    def _refuse_if_busy(self) -> None:
        if self.reading is not None:
            raise BusyError("photos are being read; wait a moment.")
        if self.running is not None and not self.running.is_over:
            raise BusyError("a run is going on; stop it first.")
