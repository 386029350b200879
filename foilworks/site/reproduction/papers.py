"""List the papers that `foilworks reproduce` knows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

# Small made files in each paper's published form, for a first try.
SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Paper:
    """`load`: imports the module of the paper, which imports model libraries."""

    label: str
    load: Callable[[], ModuleType]


def _vilma() -> ModuleType:
    from foilworks.site.reproduction import vilma

    return vilma


def _contrast_sets() -> ModuleType:
    from foilworks.site.reproduction import contrast_sets

    return contrast_sets


def _feint6k() -> ModuleType:
    from foilworks.site.reproduction import feint6k

    return feint6k


def _utd() -> ModuleType:
    from foilworks.site.reproduction import utd

    return utd


def _tst() -> ModuleType:
    from foilworks.site.reproduction import tst

    return tst


def _video_oasis() -> ModuleType:
    from foilworks.site.reproduction import video_oasis

    return video_oasis


PAPERS = {
    "vilma": Paper("ViLMA (ICLR 2024)", _vilma),
    "contrast-sets": Paper("Contrast sets (NAACL 2022)", _contrast_sets),
    "feint6k": Paper("Feint6K and RCAD (ECCV 2024)", _feint6k),
    "utd": Paper("UTD (CVPR 2025)", _utd),
    "tst": Paper("TsT (COLM 2026)", _tst),
    "video-oasis": Paper("Video-Oasis (ECCV 2026)", _video_oasis),
}
