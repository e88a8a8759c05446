"""Cameras and phones that are known by name: sensors, and the lenses of those that have only one.

Numbers are the makers' own: the longer side of the sensor, and the focal length of a phone's main
camera on 35 mm film.
"""

import re

FULL_FRAME, APS_C, CANON_APS_C, FOUR_THIRDS, ONE_INCH = 36.0, 23.5, 22.3, 17.3, 13.2
_SENSORS = (
    (r"ILCE-(1|7|9)|DSLR-A9|SLT-A99|ILCA-99|DSC-RX1\b|DSC-RX1R", FULL_FRAME),
    (r"ILCE-(3|5|6)|NEX-|ZV-E10|ILCA-[67]|SLT-A[3567]", APS_C),
    (r"EOS R([1358]|6|5C|P)?(m[0-9]| Mark|\b)(?!0)|EOS [56]D|EOS-1D ?X|EOS-1Ds", FULL_FRAME),
    (r"EOS (R7|R10|R50|R100|M|[0-9]{2,4}D|7D|Rebel|Kiss)", CANON_APS_C),
    (r"NIKON (Z ?[5-9](?!0)|Z ?f$|Z ?f |D[3-6]\b|D[678]\d0\b|D3[SX]|Df)", FULL_FRAME),
    (r"NIKON (Z ?[35]0|Z ?fc|D\d0\b|D[35]\d00|D7\d00|D500)", APS_C),
    (r"X-(T|E|H|Pro|S|A|M)\d|X100|X70", APS_C),
    (r"PENTAX K-1\b", FULL_FRAME),
    (r"PENTAX K", APS_C),
    (r"OM-\d|E-M\d|E-P\w|PEN-F|DC-G(9|H|X|F)|DMC-G", FOUR_THIRDS),
    (r"DC-S\d|LEICA (M|Q|SL)", FULL_FRAME),
    (r"DSC-RX100|DSC-RX10|PowerShot G[579] X|DMC-LX10|DC-TZ|DC-ZS|ZV-1", ONE_INCH),
)
_PHONES = (
    (r"iPhone (16|15|14) Pro|iPhone 17 Pro", 24.0),
    (r"iPhone (1[1-7]|X|8|SE)", 26.0),
    (r"iPhone [67]", 28.0),
    (r"Pixel ([6-9]|10)", 25.0),
    (r"Pixel [1-5]", 27.0),
    (r"SM-S9[0-9]|SM-G99|SM-S7", 24.0),
    (r"SM-(G9|N9|A)", 26.0),
    (r"FP[345]|Fairphone", 26.0),
)


def sensor_mm(name: str) -> float | None:
    """Longer side of the sensor of a camera, in mm; None if its name is not known."""
    return next((size for pattern, size in _SENSORS if re.search(pattern, name)), None)


def phone_35mm(name: str) -> float | None:
    """Focal length of a phone's main camera on 35 mm film; None if its name is not known."""
    return next((focal for pattern, focal in _PHONES if re.search(pattern, name)), None)
