"""Convert HDR pictures (PQ, HLG) to SDR by a table of colours that FFmpeg's filter `lut3d` applies.

Signal to light by ITU-R BT.2100: PQ's EOTF, HLG's inverse OETF and OOTF on a display of 1,000 cd/m². BT.2020 to BT.709
by ITU-R BT.2087 in linear light. The curve of FFmpeg's filter `tonemap` named mobius: straight up to 0.3 of SDR white,
then 1,000 cd/m² becomes white. SDR white is 203 cd/m² (ITU-R BT.2408). Light to signal by ITU-R BT.1886.
"""

from pathlib import Path

import numpy as np

PQ, HLG = "PQ", "HLG"
PEAK_NITS, WHITE_NITS = 1_000.0, 203.0
SYSTEM_GAMMA, SDR_GAMMA = 1.2, 2.4
KNEE = 0.3
# Points per axis: interpolation between them errs by less than one of 255 steps.
POINTS = 65
LUMINANCE_2020 = np.array([0.2627, 0.6780, 0.0593])
TO_709 = np.array([[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]])


def to_sdr(signal: np.ndarray, transfer: str) -> np.ndarray:
    """Return the BT.709 signal (…, 3) in 0..1 of an HDR signal (…, 3) in 0..1."""
    light = _light(signal, transfer) / WHITE_NITS
    light = np.clip(light @ TO_709.T, 0.0, None)
    brightest = light.max(axis=-1, keepdims=True)
    scale = np.divide(_curve(brightest), brightest, out=np.ones_like(brightest), where=brightest > 0)
    return np.clip(light * scale, 0.0, 1.0) ** (1 / SDR_GAMMA)


def _light(signal: np.ndarray, transfer: str) -> np.ndarray:
    """Return display light in cd/m²."""
    if transfer == PQ:
        m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
        power = signal ** (1 / m2)
        return 10_000 * (np.clip(power - c1, 0.0, None) / (c2 - c3 * power)) ** (1 / m1)
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    scene = np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - c) / a) + b) / 12)
    luminance = (scene @ LUMINANCE_2020)[..., None]
    return PEAK_NITS * scene * luminance ** (SYSTEM_GAMMA - 1)


def _curve(light: np.ndarray) -> np.ndarray:
    """Return the tone-mapped light, both in units of SDR white."""
    peak, knee = PEAK_NITS / WHITE_NITS, KNEE
    a = -(knee**2) * (peak - 1) / (knee**2 - 2 * knee + peak)
    b = (knee**2 - 2 * knee * peak + peak) / (peak - 1)
    bent = (b**2 + 2 * b * knee + knee**2) / (b - a) * (light + a) / (light + b)
    return np.where(light <= knee, light, bent)


def write_table(path: Path, transfer: str) -> None:
    """Write the table as a .cube file, red fastest."""
    axis = np.linspace(0.0, 1.0, POINTS)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    colours = to_sdr(np.stack([red, green, blue], axis=-1), transfer).reshape(-1, 3)
    np.savetxt(path, colours, fmt="%.6f", header=f"LUT_3D_SIZE {POINTS}", comments="")
