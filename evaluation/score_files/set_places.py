"""Say to which set a published question belongs, by the fields that its publisher gives (MVP, TimeBlind, Vinoground,
Video-MME-v2), or by `set`. Pure.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.metrics.sets import CHAIN_LENGTH, CONSISTENCY, PARTS, STRUCTURES
from foilworks.core.text.quoting import quoted

# Video-MME-v2 calls a set without a chain so.
RELEVANCE = "relevance"
TIMEBLIND = frozenset({"index", "video_path"})
ANSWERS_OF_FOUR, CLIPS_OF_PAIR = 4, 2
# Of a question of TimeBlind on a clip: yes, or A, is right for the first and the last of four (utils.py, get_scores).
YES_ROLES = (0, 3)
_VINOGROUND = re.compile(r"(\d+)_(?:pos|neg)(?:_(text|video))?")


@dataclass(frozen=True)
class SetPlace:
    """Where a question is in its set; "" and 0 if that does not count. `size`: answers of the whole set, 0 if unknown.

    The fields are those of `metrics.sets.SetAnswers`.
    """

    set: str
    clip: str = ""
    question: str = ""
    part: str = ""
    structure: str = ""
    place: float = 0.0
    size: int = 0


def place_of(fields: Mapping[str, Any]) -> SetPlace | None:
    """Return the place of a question with these fields, None if they name no set.

    EvaluationError: a part, a structure or a place that does not exist.
    """
    if fields.get("set") not in (None, ""):
        return _named(fields)
    index = str(fields.get("index") if fields.get("index") is not None else "")
    video = str(fields.get("video_id") or "")
    if fields.keys() >= {"group_type", "group_structure"}:
        is_chain = fields["group_type"] != RELEVANCE
        structure = named_structure(str(fields["group_structure"])) if is_chain else CONSISTENCY
        number = str(fields.get("question_id") or "").rpartition("-")[2]
        place = float(number) if number.isdecimal() else 0.0
        return SetPlace(video, structure=structure, place=place, size=CHAIN_LENGTH)
    if (vinoground := _VINOGROUND.fullmatch(index)) and (part := vinoground[2] or fields.get("question_type")) in PARTS:
        return SetPlace(vinoground[1], part=str(part), size=ANSWERS_OF_FOUR)
    if index.isdecimal() and fields.keys() >= TIMEBLIND:
        at, role = divmod(int(index), ANSWERS_OF_FOUR)
        return SetPlace(str(at), str(role % 2), str(role // 2), place=int(index), size=ANSWERS_OF_FOUR)
    if "_" in video and (fields.keys() & {"rating", "candidates"} or fields.keys() >= {"video_path", "source"}):
        name, _, clip = video.rpartition("_")
        return SetPlace(name, clip, "1", size=CLIPS_OF_PAIR)
    return None


def _named(fields: Mapping[str, Any]) -> SetPlace:
    texts = {name: str(fields.get(name) or "") for name in ("set", "clip", "question", "part", "structure")}
    texts["structure"] = named_structure(texts["structure"])
    for name, allowed in (("part", PARTS), ("structure", STRUCTURES)):
        if texts[name] and texts[name] not in allowed:
            raise EvaluationError(f"{name}: is {quoted(texts[name])}; give one of: {', '.join(allowed)}")
    place = fields.get("place")
    try:
        return SetPlace(
            texts["set"],
            texts["clip"],
            texts["question"],
            texts["part"],
            texts["structure"],
            place=0.0 if place in (None, "") else float(str(place)),
        )
    except ValueError as error:
        raise EvaluationError(f"place: is {quoted(str(place))}; give a number") from error


def named_structure(text: str) -> str:
    """Return a structure without blanks; that of a set without a chain is `consistency`."""
    plain = re.sub(r"\s", "", text)
    return CONSISTENCY if plain == RELEVANCE else plain
