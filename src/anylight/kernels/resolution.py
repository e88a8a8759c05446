"""Heights of the next finer grid of corners."""

from anylight.threads import HEAVY_ROWS, loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}


@loop(_OPTIONS, over="out", grain=HEAVY_ROWS)
def refine(begin, end, heights, known, inside, top, left, scale, out):
    """Mean of the coarse corners around every fine one: (i, j) of the coarse is (2i, 2j).

    Args:
        heights: of the coarse corners.
        known: which of them are corners of the object.
        inside: the same of the fine ones.
        top: row of the photo in the first row of the fine grid and of the coarse one.
        left: the same for columns.
        scale: of the fine heights.
        out: to fill.
    """
    for r in range(begin, end):
        i = r + top[0]
        for c in range(out.shape[1]):
            total, count, j = 0.0, 0, c + left[0]
            if inside[r, c]:
                for a in (i // 2 - top[1], (i + 1) // 2 - top[1]):
                    for b in (j // 2 - left[1], (j + 1) // 2 - left[1]):
                        if known[a, b]:
                            total += heights[a, b]
                            count += 1
            out[r, c] = scale * total / max(count, 1)
