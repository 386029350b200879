"""Write small files in the form of ViLMA's published annotations: four records each, made for the tests."""

import json
from pathlib import Path
from typing import Any

# Votes of the main pair, votes of the proficiency pair: unanimous, valid twice, and one that people did not see.
VOTES = (((3, 0, 0), (1, 0, 0)), ((2, 1, 0), (1, 0, 0)), ((2, 0, 1), (0, 1, 0)), ((1, 2, 0), (1, 0, 0)))
RELATIONS = (
    ("pushing a cup into a box", "pushing a cup off a box", "pushing a pen into a box"),
    ("pouring water onto a plate", "pouring water into a plate", "pouring milk onto a plate"),
    ("pulling a cup off a table", "pulling a cup onto a table", "pulling a cup off a chair"),
    ("putting a pen into a bag", "putting a pen onto a bag", "putting a key into a bag"),
)
COUNTS = ((1, 5), (2, 6), (3, 4), (2, 9))
TEMPLATE = "somebody claps exactly <number> times."
WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 9: "nine"}
CHANGES = (
    ("Someone folds the shirt.", "Someone unfolds the shirt.", "Someone folds the towel."),
    ("Someone opens the box.", "Someone closes the box.", "Someone opens the door."),
    ("Someone fills the cup.", "Someone empties the cup.", "Someone fills the bowl."),
    ("Someone wraps the gift.", "Someone unwraps the gift.", "Someone wraps the book."),
)


def write_files(folder: Path) -> None:
    """Write three of the eleven files."""
    folder.mkdir()
    _write(folder / "relations.json", "spatial-relations", RELATIONS)
    _write(folder / "change-state-action.json", "change-of-state", CHANGES)
    clapping = "somebody claps."
    texts = [(_said(right), _said(wrong), clapping) for right, wrong in COUNTS]
    more = [{"template": TEMPLATE, "class": right, "classes_foil": [wrong]} for right, wrong in COUNTS]
    _write(folder / "counting-easy-spelled-sec.json", "", [(*pair, "somebody waves.") for *pair, _ in texts], more)


def _said(count: int) -> str:
    text = TEMPLATE.replace("<number>", WORDS[count])
    return text.replace("times", "time") if count == 1 else text


def _write(path: Path, test: str, texts: Any, more: Any = ({},) * 4) -> None:
    records = {
        str(at): {
            "dataset": "made-up",
            "original_split": "val",
            "dataset_idx": f"{path.stem}-{at}",
            "linguistic_phenomena": test or None,
            "youtube_id": None,
            "video_file": f"{path.stem}-{at}",
            "start_time": None,
            "end_time": None,
            "time_unit": "sec",
            "caption": caption,
            "foils": [foil],
            "proficiency": {"caption": caption, "foils": [simple], "human": _votes(simpler)},
            "mturk": _votes(main),
            **extra,
        }
        for at, ((caption, foil, simple), (main, simpler), extra) in enumerate(zip(texts, VOTES, more, strict=True))
    }
    path.write_text(json.dumps(records), encoding="utf-8")


def _votes(counts: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip(("caption", "foil", "other"), counts, strict=True))
