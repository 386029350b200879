"""The numbers that the authors' project page prints for Video-Oasis. Pure."""

from collections.abc import Iterator

from foilworks.site.reproduction.printed_checks import TINY, differing, repeated, without_shares
from foilworks.site.reproduction.printed_tables import PrintedTable, printed

AUDIT, MODELS, COLLAPSE, GROUNDING, ORACLE, MODES, TRAINING = (
    "Video-Oasis, project page: the audit",
    "Video-Oasis, project page: video-native challenges",
    "Video-Oasis, README: accuracy before and after",
    "Video-Oasis, project page: temporal grounding",
    "Video-Oasis, project page: oracle grounding",
    "Video-Oasis, project page: reasoning modes",
    "Video-Oasis, project page: training",
)
OVERALL = "overall"
TEXTS = {
    AUDIT: (
        ("QA samples", "video-native", "shortcut-solvable, %", "random chance, %"),
        "all 14 sets | 24416 11033 55 25.63",
    ),
    MODELS: (
        ("perception", "spatial", "temporal", "causal", "narrative", OVERALL),
        """
GPT-4o                 | 25.6 33.2 26.3 27.3 26.5 27.5
Gemini-2.5 Pro         | 40.2 49.8 50.9 45.4 43.0 46.7
Qwen2.5-VL (7B)        | 23.3 28.7 32.3 28.6 21.2 29.2
Qwen3-VL Inst. (8B)    | 27.0 42.4 36.5 28.0 21.5 33.8
Qwen3-VL Think. (8B)   | 29.0 41.6 37.7 27.7 23.2 34.6
Eagle2.5 (8B)          | 26.9 31.0 39.7 33.2 22.7 34.5
InternVL-3 (8B)        | 27.0 31.3 34.1 30.6 24.5 31.6
InternVL-3.5 (8B)      | 29.5 41.9 35.1 29.8 23.3 33.6
Video-R1 (7B)          | 24.0 24.0 29.1 27.3 18.4 26.3
LongViLA-R1 (7B)       | 28.4 25.4 31.5 27.9 20.6 28.6
VideoAuto-R1 (8B)      | 27.5 44.3 39.5 31.1 28.9 36.8
VideoTree (GPT-5 mini) | 28.6 34.0 32.3 24.6 20.7 30.1
STAR (GPT-5 mini)      | 31.6 44.4 42.2 34.0 32.9 39.5
""",
    ),
    COLLAPSE: (
        ("before", "after", "drop"),
        """
Qwen2.5-VL (7B)      | 51.17 29.2 22.0
InternVL-3 (8B)      | 52.4 31.6 20.8
Qwen3-VL Think. (8B) | 55.27 34.65 20.6
Eagle2.5 (8B)        | 56.98 34.5 22.5
InternVL-3.5 (8B)    | 53.27 33.6 19.7
VideoAuto-R1 (8B)    | 58.18 36.8 21.4
Video-R1 (7B)        | 49.13 26.3 22.8
LongViLA-R1 (7B)     | 49.86 28.6 21.3
""",
    ),
    GROUNDING: (
        ("with", "without", "gain"),
        """
Eagle2.5 (8B)       | 32.9 31.5 1.4
Qwen3-VL Inst. (8B) | 30.1 27.8 2.3
""",
    ),
    ORACLE: (
        ("with", "without", "gain"),
        """
Eagle2.5, Video-Oasis | 50.8 35.0 15.8
Eagle2.5, shortcuts   | 80.8 78.0 2.8
""",
    ),
    MODES: (
        ("best of both", "VideoAuto-R1", "gain"),
        "Qwen3-VL Inst. or Think. | 46.2 36.8 9.4",
    ),
    TRAINING: (
        ("trained", "Qwen2.5-VL", "gain"),
        """
Eagle2.5 (SFT)       | 34.5 29.2 5.3
Video-R1 (RLVR)      | 26.3 29.2 -2.9
VideoAuto-R1 (RLVR)  | 32.7 29.2 3.5
""",
    ),
}
TABLES: dict[str, PrintedTable] = {name: printed(text, columns) for name, (columns, text) in TEXTS.items()}
# The share in the README and in the first version on arXiv.
README_SHARE = 54
SHARE = (
    "Video-Oasis: the README and the first version on arXiv say that {} % of the samples are solvable without the "
    "video; {:,} of {:,} video-native samples leave {:.1f} %."
)


def contradictions() -> Iterator[str]:
    """Yield a sentence per number that does not follow from others, or that two places print differently."""
    n, native, *_shares = (int(number or 0) for number in TABLES[AUDIT].rows["all 14 sets"])
    share = 100 * (1 - native / n)
    if abs(share - README_SHARE) > 0.5 + TINY:
        yield SHARE.format(README_SHARE, native, n, share)
    rows = {row: [float(number or 0) for number in numbers] for row, numbers in TABLES[MODELS].rows.items()}
    yield from without_shares(MODELS, OVERALL, rows)
    for name in (COLLAPSE, GROUNDING, ORACLE, MODES, TRAINING):
        yield from differing(name, TABLES[name], *TABLES[name].columns, 1)
    for name, column in ((COLLAPSE, "after"), (GROUNDING, "without")):
        for row in TABLES[name].rows:
            places = ((MODELS, TABLES[MODELS].number(row, OVERALL)), (name, TABLES[name].number(row, column)))
            yield from repeated(row, OVERALL, *places)
