"""The long parts of the phase, each remembered under all that it began from."""

from collections.abc import Generator
from functools import partial
from time import perf_counter

from anylight.model.journal import page, remembered
from anylight.sky import Skyline

from .descent import Round, descend, light_up
from .energy import Energy, FullModel, State


def lit_up(model: FullModel, start: State, num_steps: int, *, keep: bool = False) -> State:
    """Light and paint for a surface that stays (see `descent.light_up`)."""
    place = page("light", model.scene, model.sky, model.around, start, num_steps, keep)
    return remembered(place, partial(light_up, model, start, num_steps, keep=keep), (State,))


def descended(model: FullModel, start: State, num_steps: int) -> Generator[Round, None, Round]:
    """Steps in rounds (see `descent.descend`); none if it is known where they lead."""
    place = page("descent", model.scene, model.sky, model.around, start, num_steps)
    if place is None:
        return (yield from descend(model, start, num_steps))
    made = (Round, State, Energy, Skyline)
    found = place.recall(*made)
    if found is not None:
        ended: Round = found[0]
        return ended
    begin = perf_counter()
    ended = yield from descend(model, start, num_steps)
    return place.keep(ended, perf_counter() - begin, *made)
