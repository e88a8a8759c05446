"""How many photos an order of the light needs: said once, for the run and for the doctor."""

from anylight.photometry.harmonics import DEGREES

PHOTOS_FOR = {8: 10, 6: 8, 4: 5, 2: 0}
"""Photos that an order needs."""


def orders_for(num_photos: int) -> tuple[int, ...]:
    """Orders of the continuation that so many photos support."""
    top = next(order for order, least in PHOTOS_FOR.items() if num_photos >= least)
    return tuple(order for order in DEGREES if 1 <= order <= top)
