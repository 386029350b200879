"""HDR colours as SDR, one colour at a time and without the product: the check of foilworks.core.media.tone_mapping."""

import math

import numpy as np

# Chromaticities of red, green, blue and white: ITU-R BT.2020 and BT.709.
BT2020 = ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), (0.3127, 0.3290))
BT709 = ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060), (0.3127, 0.3290))


def to_xyz(primaries: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Return the matrix from linear RGB to CIE XYZ."""
    columns = np.array([(x / y, 1.0, (1 - x - y) / y) for x, y in primaries]).T
    return columns[:, :3] * np.linalg.solve(columns[:, :3], columns[:, 3])


def nits(signal: list[float], transfer: int) -> list[float]:
    """Return display light of a signal in 0..1: SMPTE ST 2084, or ARIB STD-B67 on a display of 1,000 cd/m²."""
    if transfer == 16:
        light = []
        for value in signal:
            power = value ** (32 / 2523)
            below = (2413 / 128) - (2392 / 128) * power
            light.append(10_000 * (max(power - 3424 / 4096, 0.0) / below) ** (16384 / 2610))
        return light
    a = 0.17883277
    b, c = 1 - 4 * a, 0.5 - a * math.log(4 * a)
    scene = [value * value / 3 if value <= 0.5 else (math.exp((value - c) / a) + b) / 12 for value in signal]
    luminance = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2]
    return [1_000 * part * luminance**0.2 for part in scene]


def curve(light: float) -> float:
    """Return (p x + q) / (x + r) through (0.3, 0.3) with slope 1 there and (peak, 1); straight below."""
    knee, peak = 0.3, 1_000 / 203
    if light <= knee:
        return light
    # p k + q - k r = k^2;  p r - q = (k + r)^2;  p peak + q - r = peak: solved for r by the second.
    low, high = 1e-9, 10.0
    for _ in range(200):
        r = (low + high) / 2
        p = (peak + r - knee * knee - knee * r) / (peak - knee)
        q = knee * knee + knee * r - p * knee
        low, high = (low, r) if p * r - q < (knee + r) ** 2 else (r, high)
    return (p * light + q) / (light + r)


def sdr_colour(colour: list[int] | tuple[int, ...], transfer: int) -> list[int]:
    """Return the BT.709 colour, 0..255, of an HDR signal, 0..255."""
    light = [value / 203 for value in nits([value / 255 for value in colour], transfer)]
    linear = np.linalg.solve(to_xyz(BT709), to_xyz(BT2020) @ np.array(light))
    linear = [max(float(value), 0.0) for value in linear]
    scale = curve(max(linear)) / max(linear) if max(linear) > 0 else 0.0
    return [round(255 * min(value * scale, 1.0) ** (1 / 2.4)) for value in linear]
