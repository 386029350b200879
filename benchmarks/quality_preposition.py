"""Measure preposition replacement, change of state and landmarks on ViLMA's released files, by rule and offline.

    .venv/bin/python benchmarks/quality_preposition.py FOLDER

FOLDER has `relations.json` and `change-state-action.json` of ViLMA (github.com/ilkerkesen/ViLMA). `rates(FOLDER)`
returns one row per method and half of a file. The halves are drawn by seed: the rules were written on the development
half. Acceptability was judged from text alone, line by line: grammatical, false given the caption, plausible.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from generation.captioning import cos_caption  # noqa: E402 (the root must be on the path first)
from generation.grammar.landmarks import landmark  # noqa: E402
from generation.methods import preposition, state_change  # noqa: E402
from generation.records import CaptionInput, Skip  # noqa: E402
from text.language.tools import tagger  # noqa: E402

SEED = 208
ARTICLES = re.compile(r"\b(?:the|an?|some)\b ")
PARAMS = {"top": 10, "pairs": "", "min_corpus": 20, "model": "", "device": "auto"}
STATE = {"subtest": "auto", "tagger": "offline"}
# Method, half -> judged texts and accepted ones, at the first reading of the held half. The mends that it led to are
# not counted. One reader, text only; the lists themselves are not published.
JUDGED = {
    ("preposition", "held"): (150, 137),
    ("cos_caption", "held"): (175, 166),
    ("state_change", "held"): (142, 130),
}

# Captions of other sources, which are not published here: MSR-VTT for prepositions, SICK for changes of state.
NATURAL = (
    ("preposition", "natural captions (MSR-VTT)", 469, 147, 205, 191),
    ("state_change", "natural captions (SICK)", 5164, 346, 110, 101),
)

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Rate:
    """One row: `made` of `captions`; `same` as the authors' choice; `accepted` of `judged` texts; common refusals."""

    method: str
    material: str
    captions: int
    made: int
    same: int | None
    judged: int
    accepted: int
    refusals: tuple[tuple[str, int], ...]


def rates(folder: Path) -> list[Rate]:
    """Measure each method on both halves of its file; a missing file gives no rows."""
    found: list[Rate] = []
    for name, key, measures in FILES:
        path = Path(folder) / name
        if path.exists():
            items = list(json.loads(path.read_text(encoding="utf-8")).values())
            for half, chosen in halves(items, key).items():
                found += [measure(f"{name}, {half} half", half, chosen) for measure in measures]
    found += [
        Rate(method, material, captions, made, None, judged, accepted, ())
        for method, material, captions, made, judged, accepted in NATURAL
    ]
    return found


def halves(items: Sequence[Item], key: str) -> dict[str, list[Item]]:
    """Return the development and the held half; items with the same text are in the same half."""
    texts = sorted({item[key] for item in items})
    random.Random(SEED).shuffle(texts)
    development = set(texts[: len(texts) // 2])
    return {
        "development": [item for item in items if item[key] in development],
        "held": [item for item in items if item[key] not in development],
    }


def relations_row(material: str, half: str, items: Sequence[Item]) -> Rate:
    """The authors' choice counts as equal if any of our foils is theirs."""
    captions = [CaptionInput(str(at), item["caption"]) for at, item in enumerate(items)]
    state = preposition.prepare(captions, params=PARAMS, mode="corrected", seed=0)
    foils: dict[str, set[str]] = {}
    skips = []
    for made in preposition.make(captions, params=PARAMS, mode="corrected", seed=0, state=state):
        if isinstance(made, Skip):
            skips.append(made.why)
        else:
            foils.setdefault(made.caption_id, set()).add(made.foil)
    same = sum(not foils.get(str(at), set()).isdisjoint(item["foils"]) for at, item in enumerate(items))
    return _row("preposition", material, half, len(items), len(foils), same, skips)


def landmarks_row(material: str, half: str, items: Sequence[Item]) -> Rate:
    tags = tagger("offline")
    found = [landmark(tags.tag(item["caption"])) for item in items]
    same = sum(
        spot is not None and spot.word == item["proficiency"]["mask_target"]
        for spot, item in zip(found, items, strict=True)
    )
    return _row("proficiency landmark", material, half, len(items), sum(map(bool, found)), same, [])


def captions_row(material: str, half: str, items: Sequence[Item]) -> Rate:
    """Captions of the action template from the source sentences; equal apart from articles."""
    texts, skips = _captions(items)
    same = sum(_bare(texts.get(at, "")) == _bare(item["caption"]) for at, item in enumerate(items))
    return _row("cos_caption", material, half, len(items), len(texts), same, skips)


def states_row(material: str, half: str, items: Sequence[Item]) -> Rate:
    """Foils of our own captions; equal to the authors' foil apart from articles."""
    texts, _ = _captions(items)
    foils, skips = {}, []
    captions = [CaptionInput(str(at), text) for at, text in texts.items()]
    for made in state_change.make(captions, params=STATE, mode="corrected", seed=0):
        if isinstance(made, Skip):
            skips.append(made.why)
        else:
            foils[int(made.caption_id)] = made.foil
    same = sum(_bare(foil) == _bare(items[at]["foils"][0]) for at, foil in foils.items())
    return _row("state_change", material, half, len(texts), len(foils), same, skips)


def _captions(items: Sequence[Item]) -> tuple[dict[int, str], list[str]]:
    sources = [CaptionInput(str(at), item["original_sentence"]) for at, item in enumerate(items)]
    params = {"template": "action", "tagger": "offline"}
    texts, skips = {}, []
    for made in cos_caption.make(sources, params=params, mode="corrected", seed=0):
        if isinstance(made, Skip):
            skips.append(made.why)
        else:
            texts[int(made.source_id)] = made.text
    return texts, skips


def _row(method: str, material: str, half: str, captions: int, made: int, same: int, skips: Iterable[str]) -> Rate:
    judged, accepted = JUDGED.get((method, half), (0, 0))
    # Quoted words differ by caption; the reason is what counts.
    common = Counter(re.sub(r"'[^']*'", "…", why) for why in skips).most_common(3)
    return Rate(method, material, captions, made, same, judged, accepted, tuple(common))


def _bare(text: str) -> str:
    return ARTICLES.sub("", text.lower()).strip(" .")


Measure = Callable[[str, str, Sequence[Item]], Rate]
FILES: tuple[tuple[str, str, tuple[Measure, ...]], ...] = (
    ("relations.json", "caption", (relations_row, landmarks_row)),
    ("change-state-action.json", "original_sentence", (captions_row, states_row)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of ViLMA's files")
    for row in rates(parser.parse_args().folder):
        share = f"{row.same / row.captions:6.1%}" if row.same is not None else "     -"
        good = f"{row.accepted}/{row.judged}" if row.judged else "-"
        print(
            f"{row.method:22}{row.material:44}{row.captions:5} made {row.made / row.captions:6.1%} same {share} {good}"
        )
        for why, number in row.refusals:
            print(f"{'':22}{number:5} {why}")


if __name__ == "__main__":
    main()
