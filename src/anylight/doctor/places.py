"""Where a capture is looked at: places on the object, and its surroundings."""

import numpy as np
from jaxtyping import Shaped

from anylight.model.capture import Capture

_SAMPLES = 20_000


def samples_of(capture: Capture) -> Shaped[np.ndarray, "M n C"]:
    """Places on the object, evenly spread, in every photo."""
    places = np.flatnonzero(capture.mask)
    places = places[:: max(1, len(places) // _SAMPLES)]
    return capture.photos.reshape(capture.num_photos, -1, capture.num_channels)[:, places]


def window_of(capture: Capture) -> Shaped[np.ndarray, "M h w C"]:
    """The object and some surroundings, whose outline does not depend on the light."""
    rows, columns = np.flatnonzero(capture.mask.any(1)), np.flatnonzero(capture.mask.any(0))
    grow = max(len(rows), len(columns)) // 6 + 8
    return capture.photos[
        :,
        max(rows[0] - grow, 0) : rows[-1] + grow,
        max(columns[0] - grow, 0) : columns[-1] + grow,
    ]


def photo_name(capture: Capture, index: int) -> str:
    """What a photo is called."""
    return capture.names[index] if capture.names else f"photo {index}"
