"""The long parts of the phase, each remembered under all that it began from."""

from collections.abc import Generator
from functools import partial
from time import perf_counter

from anylight.model.journal import described, page, remembered
from anylight.sky import Skyline

from .descent import Round, Way, descend, light_up
from .energy import Energy, FullModel, State

_EVERY = 50
"""Steps of a descent after which it is remembered where it is. (definition)"""


def lit_up(model: FullModel, start: State, num_steps: int, *, keep: bool = False) -> State:
    """Light and paint for a surface that stays (see `descent.light_up`)."""
    place = page("light", model.scene, model.sky, model.around, start, num_steps, keep)
    return remembered(place, partial(light_up, model, start, num_steps, keep=keep), (State,))


def descended(model: FullModel, start: State, num_steps: int) -> Generator[Round, None, Round]:
    """Steps in rounds (see `descent.descend`), from the last place that is remembered."""
    begun = described(model.scene, model.sky, model.around, start, num_steps)
    if begun is None:
        return (yield from descend(model, start, num_steps))
    made, every = (Round, State, Energy, Skyline, Way), range(_EVERY, num_steps + _EVERY, _EVERY)
    places = {k: page("descent", begun, k) for k in every}
    way = None
    for place in reversed(places.values()):
        found = None if place is None else place.recall(*made)
        if found is not None:
            way = found[0]
            break
    if isinstance(way, Round):
        return way
    since = perf_counter()

    def passing(now: Way) -> None:
        nonlocal since
        place = places.get(now.step)
        if place is not None:
            place.keep(now, perf_counter() - since, *made)
            since = perf_counter()

    ended = yield from descend(model, start, num_steps, way=way, passing=passing)
    last = places[every[-1]]
    return ended if last is None else last.keep(ended, perf_counter() - since, *made)
