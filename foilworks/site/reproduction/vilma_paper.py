"""The printed numbers of (ViLMA, Tables 1, 2 and 4-11), and the public files that they are of."""

from collections.abc import Mapping
from typing import Any, NamedTuple

PAPER = "ViLMA"
COUNTING, AWARENESS, STATE, RARE, SPATIAL = (
    "Action Counting",
    "Situation Awareness",
    "Change of State",
    "Rare Actions",
    "Spatial Relations",
)
TESTS = (COUNTING, AWARENESS, STATE, RARE, SPATIAL)


class Subtest(NamedTuple):
    """A subtest: its file, and its rows of (ViLMA, Table 4) and (ViLMA, Table 6)."""

    test: str
    name: str
    # Published names, without ".json"; the first one found is read.
    files: tuple[str, ...]
    n: int
    valid: tuple[int, float]
    unanimous: tuple[int, float]
    # Lexical items, JS, JS of the valid items, alpha, alpha of the valid items.
    words: tuple[float, ...]
    proficiency: int
    both: tuple[int, float]


SUBTESTS = (
    Subtest(
        STATE,
        "Action",
        ("change-state-action",),
        624,
        (466, 74.68),
        (201, 32.21),
        (50, 0.311, 0.301, 0.183, 0.303),
        412,
        (314, 37.82),
    ),
    Subtest(
        STATE,
        "Pre-State",
        ("change-state-prestate",),
        624,
        (286, 45.83),
        (80, 12.82),
        (2, 0.146, 0.129, 0.017, 0.106),
        412,
        (194, 31.08),
    ),
    Subtest(
        STATE,
        "Post-State",
        ("change-state-poststate",),
        624,
        (383, 61.38),
        (111, 17.79),
        (1, 0.146, 0.151, 0.059, 0.145),
        412,
        (254, 40.70),
    ),
    Subtest(
        STATE,
        "Reverse",
        ("change-state-inverse",),
        624,
        (342, 54.81),
        (109, 17.47),
        (48, 0.148, 0.138, 0.070, 0.183),
        412,
        (236, 37.82),
    ),
    Subtest(
        COUNTING,
        "Easy",
        ("counting-easy-spelled-sec", "counting-easy-spelled-pts"),
        959,
        (774, 80.71),
        (428, 44.63),
        (0, 0.085, 0.084, 0.340, 0.453),
        939,
        (757, 78.94),
    ),
    Subtest(
        COUNTING,
        "Difficult",
        ("counting-hard-spelled-sec", "counting-hard-spelled-pts"),
        895,
        (682, 76.20),
        (274, 30.61),
        (2, 0.077, 0.076, 0.148, 0.251),
        884,
        (675, 75.42),
    ),
    Subtest(
        RARE,
        "Action Replacement",
        ("rare-actions-verb-foils",),
        978,
        (781, 79.86),
        (353, 36.09),
        (9, 0.485, 0.479, 0.222, 0.333),
        940,
        (751, 76.79),
    ),
    Subtest(
        RARE,
        "Object Replacement",
        ("rare-actions-noun-foils",),
        972,
        (739, 76.03),
        (307, 31.58),
        (6, 0.450, 0.442, 0.186, 0.299),
        907,
        (692, 71.19),
    ),
    Subtest(
        SPATIAL,
        "Prepositions",
        ("relations",),
        708,
        (436, 61.58),
        (132, 18.64),
        (2, 0.030, 0.039, 0.067, 0.167),
        633,
        (393, 55.51),
    ),
    Subtest(
        AWARENESS,
        "Action Replacement",
        ("SRL_Action_Replacement_Top_1000",),
        1000,
        (838, 83.80),
        (377, 37.70),
        (60, 0.176, 0.175, 0.224, 0.313),
        837,
        (704, 70.40),
    ),
    Subtest(
        AWARENESS,
        "Actor Swapping",
        ("SRL_Actor_Swapping",),
        452,
        (207, 45.80),
        (61, 13.50),
        (5, 0.025, 0.022, 0.026, 0.204),
        394,
        (207, 45.80),
    ),
)
# SHA-256 of the published files by name (github.com/ilkerkesen/ViLMA, commit 746912b, folder data).
PUBLISHED = {
    "change-state-action": "351fcdc7f71e7f6e14c86983597887bbf8a7a52110bfdaccc3a5408ea9edecb2",
    "change-state-inverse": "bc2d2fc74fb8d5f1821c663e189a30358b6e04717751cfb48247a2bc063c4b05",
    "change-state-poststate": "6a173bd5426b1bbd260c0aadc53066fa664a9dcd6d2af7f520d4657d3593a8e9",
    "change-state-prestate": "eb21ee0b4f89875fc44126ff6ed1c60f7eaab76bc18b8c7f10e0f20ceecbc912",
    "counting-easy-spelled-sec": "fa4facd811a5c82e8d05d92ca303ebfd2d978942dd63a36b4c0864bbf28b19ad",
    "counting-easy-spelled-pts": "bdeb04eee437c07da62a9bab80f32cba307ffc907e887fec28d6166b2d67c402",
    "counting-hard-spelled-sec": "3ff20cfa7cafa1b3917133c020679bb794fd650497954f42f105b777f9e0729e",
    "counting-hard-spelled-pts": "665a1cd56e65ac6b6010c7219b43bb3a069631921713217bdbb5e1c32ed53013",
    "rare-actions-verb-foils": "64bec0f9d64d8b3bde954e5e4e9d4e6dd5239dab42bfafcba613f3e5019faabf",
    "rare-actions-noun-foils": "b22faf96f75e25c3eaa087a56af477c6796a529e168f9fdd2ff871190b13a39a",
    "relations": "4aeed66fdef76f34ddb04a2da701a06dea894b050a6172b0a563343f5a321701",
    "SRL_Action_Replacement_Top_1000": "c383946a6d5568b9f08031eb57abaf1ed82e759a1ded0f880911c1d0acfc82c2",
    "SRL_Actor_Swapping": "e9dd55089e45a772e2e4410941d703548fd5901423e5e8f9c1e69c81290c339d",
}
# All items, valid, unanimous, valid proficiency pairs, both valid, and the percentages of the first two and the last.
OVERALL: Mapping[str, Any] = {
    "n": 8460,
    "valid": (5934, 70.14),
    "unanimous": (2433, 28.76),
    "proficiency": (7182, 84.89),
    "both": (5177, 61.19),
}
# Examples per test (ViLMA, Table 1).
TABLE_1 = {COUNTING: 1432, AWARENESS: 911, STATE: 998, RARE: 1443, SPATIAL: 393}
# Of the proficiency pairs: percentage valid, lexical items, JS, JS of the valid ones (ViLMA, Table 5), by file. The
# lines of counting and rare actions are not readable in the text of the paper, except for the percentages.
TABLE_5: Mapping[str, tuple[float | None, ...]] = {
    "change-state-action": (66.03, 293, 0.391, 0.372),
    "counting-easy-spelled-sec": (97.91, None, None, None),
    "counting-hard-spelled-sec": (98.77, None, None, None),
    "rare-actions-verb-foils": (96.11, None, None, None),
    "rare-actions-noun-foils": (93.31, None, None, None),
    "relations": (89.41, 59, 0.239, 0.241),
    "SRL_Action_Replacement_Top_1000": (83.70, 127, 0.108, 0.108),
    "SRL_Actor_Swapping": (87.17, 54, 0.102, 0.101),
}
ALL = "All"


class ScoreTable(NamedTuple):
    """A table of P, T and P+T per model. `groups`: its groups of three columns; `printed`: a row per model."""

    name: str
    test: str
    groups: tuple[str, ...]
    digits: int
    printed: str

    def rows(self) -> dict[str, tuple[float, ...]]:
        """Return model -> its numbers, in the order of the columns."""
        pairs = (line.split(": ") for line in self.printed.strip().splitlines())
        return {model: tuple(map(float, numbers.split())) for model, numbers in pairs}


# (ViLMA, Table 2) has one more column: the mean of P+T over the tests.
AVERAGE = "Avg. P+T"
RANDOM = "Random"
TEXT_ONLY, IMAGE = ("GPT-2", "OPT"), ("CLIP", "BLIP2")
SCORES = (
    ScoreTable(
        "ViLMA, Table 2",
        "",
        TESTS,
        1,
        """
Random: 50.0 50.0 25.0 50.0 38.0 19.0 50.0 50.0 25.0 50.0 50.0 25.0 50.0 50.0 25.0 23.8
GPT-2: 50.3 53.3 27.6 44.6 66.6 31.7 18.0 52.4 10.8 58.4 25.9 17.7 49.1 72.8 43.0 26.2
OPT: 56.2 54.6 31.0 51.7 71.4 38.7 23.1 48.0 12.9 59.0 23.9 14.9 59.0 84.7 55.7 30.6
CLIP: 90.5 50.9 46.2 71.0 45.6 33.7 93.0 55.2 52.2 92.7 93.9 87.8 78.6 58.3 44.8 52.9
BLIP2: 80.9 54.5 43.7 73.4 75.4 55.8 74.5 52.1 38.1 93.8 74.5 70.5 91.1 86.0 79.4 57.5
ClipBERT: 56.4 49.6 28.0 54.1 57.0 31.9 63.7 50.0 33.5 43.5 40.7 17.7 39.7 39.8 14.1 25.0
UniVL: 73.4 43.6 32.2 52.9 46.7 24.1 81.3 54.3 43.0 77.5 78.0 59.9 62.5 51.7 33.2 38.5
VideoCLIP: 79.1 46.4 36.5 61.7 40.4 24.9 49.8 50.8 25.9 84.0 77.8 67.5 67.9 54.7 39.7 38.9
FiT: 83.9 52.4 44.6 69.8 40.1 29.2 93.0 52.1 47.8 89.7 89.4 80.7 70.5 51.9 38.7 48.2
CLIP4Clip: 91.2 52.3 48.0 73.9 49.1 37.7 94.8 54.1 52.1 83.0 94.1 78.7 79.8 56.7 44.2 52.1
VIOLET: 79.6 50.6 36.5 70.3 44.5 32.5 88.2 54.6 49.1 87.1 86.6 74.6 73.3 50.4 38.7 46.3
X-CLIP: 84.1 55.1 46.4 63.6 44.9 31.1 85.7 52.7 46.0 83.9 85.7 72.3 74.8 56.2 43.5 47.8
MCQ: 81.4 50.4 41.5 67.1 37.1 26.3 90.3 50.3 45.3 91.3 88.7 82.3 79.4 48.9 39.4 47.0
Singularity: 79.6 51.1 41.5 68.8 40.9 30.2 92.8 54.6 50.3 92.7 88.4 83.1 80.7 46.8 38.9 48.8
UniPerceiver: 50.6 46.4 23.0 51.5 42.2 21.2 67.5 46.1 29.1 58.2 58.8 34.7 45.5 48.0 20.1 25.6
Merlot Reserve: 84.2 56.0 46.9 70.6 35.7 25.4 93.4 53.6 50.4 83.8 90.6 77.6 63.1 41.9 29.2 45.9
VindLU: 84.5 51.2 43.5 70.6 41.6 31.3 85.4 52.6 45.6 94.2 93.1 88.0 83.2 45.6 39.4 49.5
InternVideo: 90.2 54.3 48.7 71.6 41.1 29.5 95.6 57.7 55.1 95.6 96.7 92.7 76.6 59.8 45.3 54.2
mPLUG-2: 57.7 49.7 27.7 49.6 37.4 21.5 39.5 47.7 20.8 50.8 47.0 24.0 46.6 48.1 26.5 24.1
Otter: 59.4 52.7 30.7 58.8 51.0 29.3 65.7 53.0 34.3 56.1 58.8 35.6 62.9 71.3 47.6 35.5
Video-LLaMA: 84.6 56.3 47.3 78.2 67.0 54.0 81.4 59.0 46.8 78.7 71.0 58.6 88.6 88.8 79.6 57.3
""",
    ),
    ScoreTable(
        "ViLMA, Table 7",
        COUNTING,
        ("Easy", "Difficult", ALL),
        2,
        """
Random: 50.00 50.00 25.00 50.00 50.00 25.00 50.00 50.00 25.00
GPT-2: 50.46 70.67 35.54 50.07 33.78 18.67 50.30 53.30 27.60
OPT: 55.48 93.79 52.44 56.89 10.67 6.96 56.20 54.60 31.00
CLIP: 91.28 51.65 45.71 89.63 50.07 46.67 90.50 50.90 46.20
BLIP2: 80.71 93.79 75.03 81.04 10.37 8.44 80.90 54.50 43.70
ClipBERT: 56.80 12.42 7.27 56.00 91.26 51.26 56.40 49.60 28.00
UniVL: 71.60 47.29 31.70 71.70 46.81 40.00 73.40 43.60 32.20
VideoCLIP: 78.60 31.57 25.36 79.70 62.96 49.04 79.10 46.40 36.50
FiT: 84.81 52.44 44.91 82.81 52.30 44.15 83.90 52.40 44.60
CLIP4Clip: 91.55 76.35 69.62 90.81 25.33 23.70 91.20 52.30 47.97
VIOLET: 73.45 50.86 40.42 75.41 50.37 37.33 79.60 50.60 36.50
X-CLIP: 84.68 68.16 57.07 83.41 40.44 34.52 84.10 55.10 46.40
MCQ: 81.37 30.65 28.01 81.33 72.44 56.59 81.40 50.40 41.50
Singularity: 79.92 61.16 48.35 79.26 39.70 33.78 79.60 51.10 41.50
UniPerceiver: 50.99 22.06 11.36 50.07 73.63 36.00 50.56 46.37 22.97
Merlot Reserve: 83.62 53.37 44.39 84.74 58.96 49.63 84.15 56.01 46.86
VindLU: 85.73 65.13 57.60 83.11 35.56 27.70 84.50 51.20 43.50
InternVideo: 90.62 63.94 48.74 89.63 43.56 48.74 90.15 54.33 48.74
mPLUG-2: 57.10 53.70 31.70 58.40 45.30 23.10 57.70 49.70 27.70
Otter: 59.45 90.75 54.16 59.41 14.67 7.26 59.43 52.71 30.71
Video-LLaMA: 85.47 66.84 56.01 83.56 44.44 37.48 84.57 56.28 47.28
""",
    ),
    ScoreTable(
        "ViLMA, Table 8",
        AWARENESS,
        ("Action Replacement", "Actor Swapping", ALL),
        2,
        """
Random: 50.00 34.42 17.21 50.00 50.00 25.00 50.00 37.96 18.98
GPT-2: 43.03 67.47 31.68 49.76 63.77 31.88 44.57 66.63 31.72
OPT: 50.14 71.88 38.49 57.00 69.57 39.61 51.70 71.35 38.75
CLIP: 70.74 45.03 33.66 71.98 47.34 33.82 71.02 45.55 33.70
BLIP2: 72.30 78.12 57.24 77.29 66.18 50.72 73.44 75.41 55.76
ClipBERT: 53.41 55.11 29.69 56.52 63.29 39.61 54.12 56.97 31.94
UniVL: 53.98 44.46 23.86 49.28 54.11 25.12 52.91 46.65 24.15
VideoCLIP: 62.78 37.36 22.59 57.97 50.72 32.85 61.69 40.40 24.92
FiT: 68.47 38.64 27.56 74.40 44.93 34.78 69.81 40.07 29.20
CLIP4Clip: 73.15 46.59 35.51 76.33 57.49 44.93 73.87 49.07 37.65
VIOLET: 69.32 41.19 29.69 73.43 55.56 42.03 70.25 44.46 32.49
X-CLIP: 64.91 43.32 30.68 58.94 50.24 32.37 63.56 44.90 31.06
MCQ: 65.20 33.10 22.44 73.43 50.72 39.61 67.07 37.10 26.34
Singularity: 67.05 38.78 27.70 74.88 48.31 38.65 68.83 40.94 30.19
UniPerceiver: 52.13 29.12 14.35 49.28 86.47 44.44 51.48 42.15 21.19
Merlot Reserve: 68.89 30.97 21.16 76.33 51.69 39.61 70.58 35.68 25.36
VindLU: 69.46 39.63 29.40 74.40 48.31 37.68 70.58 41.60 31.28
InternVideo: 70.88 39.20 28.12 73.91 47.34 34.30 71.57 41.05 29.53
mPLUG-2: 47.60 34.70 18.32 56.50 46.40 32.40 49.60 37.40 21.50
Otter: 58.10 39.63 23.86 59.42 62.32 34.78 58.76 50.98 29.32
Video-LLaMA: 77.56 67.61 53.55 80.19 64.73 55.56 78.15 66.96 54.01
""",
    ),
    ScoreTable(
        "ViLMA, Table 9",
        STATE,
        ("Action", "Pre-State", "Post-State", "Reverse", ALL),
        1,
        """
Random: 50.0 50.0 25.0 50.0 50.0 25.0 50.0 50.0 25.0 50.0 50.0 25.0 50.0 50.0 25.0
GPT-2: 18.5 51.3 11.8 19.1 40.2 8.8 16.1 65.8 11.0 18.2 52.5 11.4 18.0 52.4 10.8
OPT: 24.2 54.1 17.5 23.2 37.6 7.7 22.4 59.8 15.0 22.5 40.2 11.4 23.1 48.0 12.9
CLIP: 93.0 60.2 57.3 93.3 46.9 43.8 93.3 57.1 53.5 92.4 56.8 54.2 93.0 55.2 52.2
BLIP2: 75.2 56.4 41.4 73.2 40.2 29.9 74.8 65.0 47.6 75.0 47.0 33.5 74.5 52.1 38.1
ClipBERT: 63.1 47.5 33.1 62.4 41.8 26.3 63.4 53.1 33.5 66.1 57.6 41.1 63.7 50.0 33.5
UniVL: 81.5 58.0 46.5 80.4 47.4 34.5 81.5 55.9 47.2 81.8 55.9 43.6 81.3 54.3 43.0
VideoCLIP: 48.7 51.0 25.8 50.5 52.6 32.5 46.1 51.2 19.7 53.8 48.3 25.9 49.8 50.8 25.9
FiT: 93.0 56.7 52.2 93.3 42.8 38.1 94.1 53.9 52.0 91.5 55.1 48.7 93.0 52.1 47.8
CLIP4Clip: 94.3 56.7 55.1 95.4 46.9 44.9 94.9 57.5 55.5 94.5 55.5 53.0 94.8 54.1 52.1
VIOLET: 87.9 55.1 50.0 90.7 47.4 43.3 86.2 57.5 49.2 88.1 58.5 53.8 88.2 54.6 49.1
X-CLIP: 85.7 51.3 45.9 85.0 49.0 39.2 87.0 55.1 50.8 85.2 55.5 48.3 85.7 52.7 46.0
MCQ: 91.7 53.2 50.0 88.1 42.3 34.0 91.3 54.3 50.0 89.8 51.3 47.0 90.3 50.3 45.3
Singularity: 93.6 61.1 56.7 91.8 44.3 40.7 94.5 60.6 57.5 91.5 52.1 46.2 92.8 54.6 50.3
UniPerceiver: 68.5 43.3 27.1 63.9 43.8 23.2 69.7 53.1 41.3 67.8 44.1 25.0 67.5 46.1 29.1
Merlot Reserve: 93.0 62.4 58.9 94.8 34.5 32.5 93.7 58.7 55.9 92.0 58.9 54.2 93.4 53.6 50.4
VindLU: 85.7 63.1 54.1 84.0 46.9 39.7 84.7 51.2 45.3 87.3 49.1 43.2 85.4 52.6 45.6
InternVideo: 95.5 60.5 55.1 95.4 47.4 55.1 95.7 55.9 55.1 95.8 64.4 55.1 95.6 57.7 55.1
mPLUG-2: 38.9 51.3 23.0 39.7 43.3 17.0 40.2 50.8 22.4 39.4 43.2 19.1 39.5 47.7 20.8
Otter: 66.6 57.0 39.2 61.3 44.3 25.8 67.3 60.2 40.2 67.4 50.4 31.8 65.7 53.0 34.3
Video-LLaMA: 82.2 65.0 51.9 80.9 45.9 39.7 81.9 62.2 48.4 80.1 58.5 44.1 81.4 59.0 46.8
""",
    ),
    ScoreTable(
        "ViLMA, Table 10",
        RARE,
        ("Action Replacement", "Object Replacement", ALL),
        2,
        """
Random: 50.00 50.00 25.00 50.00 50.00 25.00 50.00 50.00 25.00
GPT-2: 61.25 17.98 9.85 55.20 34.39 26.16 58.35 25.85 17.67
OPT: 60.99 20.51 10.79 56.79 27.60 19.36 58.97 23.91 14.90
CLIP: 92.81 93.74 86.95 92.63 94.08 88.73 92.72 93.90 87.80
BLIP2: 93.21 64.98 60.19 94.51 84.83 81.65 93.83 74.50 70.48
ClipBERT: 38.75 27.96 7.99 40.75 52.60 20.81 39.71 39.78 14.14
UniVL: 77.23 78.83 60.59 77.75 77.17 59.25 77.48 78.04 59.89
VideoCLIP: 84.15 75.10 62.98 83.82 80.64 72.40 83.99 77.75 67.50
FiT: 89.21 86.55 76.30 90.17 92.49 85.55 89.67 89.40 80.73
CLIP4Clip: 82.95 93.07 78.16 82.94 95.23 79.19 82.95 94.10 78.65
VIOLET: 86.68 85.49 73.50 87.57 87.86 75.87 87.10 86.63 74.64
X-CLIP: 82.69 86.28 70.57 85.12 84.97 74.13 83.85 85.65 72.28
MCQ: 91.48 86.82 79.09 91.18 90.75 85.69 91.34 88.70 82.26
Singularity: 92.14 85.22 78.16 93.21 92.77 88.44 92.65 88.84 83.09
UniPerceiver: 57.12 55.12 31.02 59.39 62.71 38.72 58.21 58.76 34.71
Merlot Reserve: 83.75 96.27 80.42 83.81 84.39 74.56 83.78 80.57 77.61
VindLU: 94.01 92.14 86.42 94.36 94.08 89.60 94.18 93.07 87.94
InternVideo: 95.47 95.87 92.65 95.81 97.54 92.65 95.63 96.67 92.65
mPLUG-2: 52.50 43.10 21.70 49.00 51.30 26.50 50.80 47.00 24.00
Otter: 56.06 58.85 30.89 56.21 58.67 40.32 56.14 58.76 35.61
Video-LLaMA: 78.70 58.19 47.00 78.76 84.97 71.10 78.73 71.01 58.56
""",
    ),
    ScoreTable(
        "ViLMA, Table 11",
        SPATIAL,
        ("Prepositions",),
        1,
        """
Random: 50.0 50.0 25.0
GPT-2: 49.1 72.8 43.0
OPT: 59.0 84.7 55.7
CLIP: 78.6 58.3 44.8
BLIP2: 91.1 86.0 79.4
ClipBERT: 44.0 65.1 30.0
UniVL: 62.5 51.7 33.2
VideoCLIP: 67.9 54.7 39.7
FiT: 70.5 51.9 38.7
CLIP4Clip: 79.8 56.7 44.2
VIOLET: 73.3 50.4 38.7
X-CLIP: 74.8 56.2 43.5
MCQ: 79.4 48.9 39.4
Singularity: 80.7 46.8 38.9
UniPerceiver: 45.5 48.0 20.1
Merlot Reserve: 63.1 41.9 29.2
VindLU: 83.2 45.6 39.4
InternVideo: 76.6 59.8 45.3
mPLUG-2: 46.6 48.1 26.5
Otter: 62.9 71.3 47.6
Video-LLaMA: 88.6 88.8 79.6
""",
    ),
)
