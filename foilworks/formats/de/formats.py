"""Dates in German: 22. Nov. 2026."""

DATES = {
    "j M": "j. N",
    "j M, H:i": "j. N, H:i",
    "j M, H:i:s": "j. N, H:i:s",
    "j M Y": "j. N Y",
    "j M Y, H:i": "j. N Y, H:i",
    "j M Y, H:i:s": "j. N Y, H:i:s",
    "j F Y": "j. F Y",
}
# Django looks for a format under its name.
globals().update(DATES)
