r"""Residuals with the albedo eliminated, and their derivatives.

At a pixel and channel the photos form a vector J, the shading a vector S; the best albedo is
ρ = S·J / S·S and leaves the residual r = ρ S − J, perpendicular to S. Changes of slopes and light
act through their part perpendicular to S (Kaufman's form of variable projection):
$\delta r = \rho\,P_\perp\,(\delta S)$. Arrays are (pixels, channels · photos), channel by channel.
"""

import numpy as np

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_TINY = 1e-20


@loop(_OPTIONS, over="photos")
def residuals(begin, end, photos, shading, channels, albedo, misfit):
    """Best albedo (P, C), not negative, and squared residual (P) of every pixel."""
    num = photos.shape[1]
    each = num // channels
    for j in range(begin, end):
        total = np.float32(0)
        for c in range(channels):
            i, s = photos[j, c * each : (c + 1) * each], shading[j, c * each : (c + 1) * each]
            ss, si = np.float32(_TINY), np.float32(0)
            for k in range(each):
                ss += s[k] * s[k]
                si += s[k] * i[k]
            rho = max(si / ss, np.float32(0))
            for k in range(each):
                r = rho * s[k] - i[k]
                total += r * r
            albedo[j, c] = rho
        misfit[j] = total


@loop(_OPTIONS, over="photos")
def linearise(
    begin, end, photos, shading, by_p, by_q, weight, channels, albedo, blocks, slope, source
):
    """Blocks uu, uv, vv (3, P) and gradient (2, P) in the slopes; source = w ρ r for the light."""
    num = photos.shape[1]
    each = num // channels
    for j in range(begin, end):
        uu, uv, vv = np.float32(0), np.float32(0), np.float32(0)
        gu, gv = np.float32(0), np.float32(0)
        for c in range(channels):
            own = slice(c * each, (c + 1) * each)
            i, s, a, b = photos[j, own], shading[j, own], by_p[j, own], by_q[j, own]
            ss, sa, sb = np.float32(_TINY), np.float32(0), np.float32(0)
            aa, ab, bb = np.float32(0), np.float32(0), np.float32(0)
            for k in range(each):
                ss += s[k] * s[k]
                sa += s[k] * a[k]
                sb += s[k] * b[k]
                aa += a[k] * a[k]
                ab += a[k] * b[k]
                bb += b[k] * b[k]
            rho = albedo[j, c]
            square = rho * rho
            uu += square * (aa - sa * sa / ss)
            uv += square * (ab - sa * sb / ss)
            vv += square * (bb - sb * sb / ss)
            ar, br, strength = np.float32(0), np.float32(0), weight[j] * rho
            for k in range(each):
                r = rho * s[k] - i[k]
                ar += a[k] * r
                br += b[k] * r
                source[j, c * each + k] = strength * r
            gu += rho * ar
            gv += rho * br
        blocks[0, j], blocks[1, j], blocks[2, j] = weight[j] * uu, weight[j] * uv, weight[j] * vv
        slope[0, j], slope[1, j] = weight[j] * gu, weight[j] * gv


@loop(_OPTIONS, over="p")
def normal_product(
    begin, end, shading, by_p, by_q, change, weight, channels, albedo, p, q, slope, source
):
    """Jᵀ W J applied to changes of slopes (p, q) and of shading by light.

    Gives the gradient (2, P) in the slopes and, in `source`, w ρ δr for the light.
    """
    num = shading.shape[1]
    each = num // channels
    for j in range(begin, end):
        gu, gv = np.float32(0), np.float32(0)
        pj, qj = np.float32(p[j]), np.float32(q[j])
        for c in range(channels):
            own = slice(c * each, (c + 1) * each)
            s, a, b, y = shading[j, own], by_p[j, own], by_q[j, own], change[j, own]
            out = source[j, own]
            ss, st = np.float32(_TINY), np.float32(0)
            for k in range(each):
                t = y[k] + pj * a[k] + qj * b[k]
                out[k] = t
                ss += s[k] * s[k]
                st += s[k] * t
            share, rho = st / ss, albedo[j, c]
            strength = weight[j] * rho * rho
            ta, tb = np.float32(0), np.float32(0)
            for k in range(each):
                t = strength * (out[k] - share * s[k])
                out[k] = t
                ta += a[k] * t
                tb += b[k] * t
            gu += ta
            gv += tb
        slope[0, j], slope[1, j] = gu, gv
