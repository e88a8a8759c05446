"""Results that are being looked at."""

import threading
from pathlib import Path

from .outcome import Outcome
from .session import Session


class Gallery:
    """The last two results that were looked at stay in memory; threads may ask at once."""

    def __init__(self) -> None:
        self._outcomes: dict[Path, Outcome] = {}
        self._looking = threading.Lock()

    def clear(self) -> None:
        """Forget all."""
        self._outcomes.clear()

    def outcome(self, session: Session, number: int) -> Outcome:
        """A result of a session.

        Raises:
            KeyError: there is no such result.
        """
        folder = next((path for path in session.results() if int(path.name) == number), None)
        if folder is None:
            raise KeyError(number)
        with self._looking:
            if folder not in self._outcomes:
                facts = session.facts
                outcome = Outcome(folder, session.photos, facts.full_scale)
                outcome.record["places"] = outcome.places(facts.names)
                while len(self._outcomes) > 1:
                    self._outcomes.pop(next(iter(self._outcomes)))
                self._outcomes[folder] = outcome
            return self._outcomes[folder]
