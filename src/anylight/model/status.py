"""Why a run, or a part of one, ended: a value that is its own sentence."""

from enum import StrEnum


class Status(StrEnum):
    """How it ended."""

    RUNNING = "not ended yet"
    FINISHED = "finished"
    CONVERGED = "the energy hardly fell any more"
    ITERATION_LIMIT = "iteration limit reached"
    NO_DESCENT = "no step lowered the energy any more"
    INTERRUPTED = "stopped by the user"
    SINGULAR = "the equations became singular; the best state so far was kept"
    NOT_FINITE = "numbers stopped being finite; the last good state was kept"

    @property
    def is_failure(self) -> bool:
        """Whether the result is less than what was asked for, and nobody wanted that."""
        return self in (Status.SINGULAR, Status.NOT_FINITE)
