"""Score how well the values and the name of a column suit a field. Pure."""

from collections.abc import Mapping

from foilworks.core.corpus.import_formats.parsing.column_names import (
    CAPTIONS,
    NAMES,
    WEAK_CAPTIONS,
    has_word,
    is_negative,
    names_text,
    plain_name,
)
from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile
from foilworks.core.corpus.import_formats.parsing.row_values import KEY, PLACE

# The longest templates of Something-Something v2 have 12.
_CLASS_WORDS = 12
# Share of the values that must look like the field.
MOST = 0.8


def best_column(role: str, profiles: Mapping[str, Profile]) -> str:
    """Return the column that suits the field best; "" if none does."""
    scores = {name: score_of(role, profile) for name, profile in profiles.items()}
    best = max(scores, key=lambda name: scores[name], default="")
    return best if best and scores[best] > 0 else ""


def score_of(role: str, profile: Profile) -> float:
    """0 for a column that cannot be the field; else more for better values and a better name."""
    if profile.filled == 0 or not _fits(role, profile):
        return 0
    if role in {"video", "source_id"} and profile.uploads >= MOST:
        return 3
    names = CAPTIONS if role == "caption" else NAMES["video" if role == "source_id" else role]
    steps = [step for step in profile.name.split(".") if step != PLACE]
    if role == "source_id" and profile.name == KEY:
        return 2.5
    for plain, weight in (
        (plain_name(profile.name), 1.0),
        (plain_name(steps[-1]), 0.9),
        (plain_name(".".join(steps[-2:])), 0.9),
    ):
        if plain in names and not (role == "caption" and plain in WEAK_CAPTIONS and profile.words < 3):
            return weight * (2 - names.index(plain) / len(names))
    return _by_words(role, profile)


def _by_words(role: str, profile: Profile) -> float:
    """Score a column without a listed name, by the words of its name and by its values."""
    if role == "video":
        return 0.5 if profile.files >= MOST else 0
    if role == "caption":
        is_named = names_text(profile.name) and plain_name(profile.name) not in WEAK_CAPTIONS
        is_text = profile.words >= (2 if is_named else 4) and profile.distinct > 0.3
        return (0.9 * is_named or 0.2 + min(profile.words, 20) / 100) if is_text else 0
    if role == "url":
        return 0.5
    if role == "split":
        return 0.5 if profile.splits >= MOST else 0
    if role == "subtest":
        return 0.4 if has_word(profile.name, role) and profile.distinct < 1 else 0
    if role == "source_id":
        return 0.4 if has_word(profile.name, "video") else 0
    if role == "id":
        return 0.4 if has_word(profile.name, "id") and not has_word(profile.name, "video") else 0
    return 0.4 if has_word(profile.name, role) else 0


def _fits(role: str, profile: Profile) -> bool:
    match role:
        case "caption":
            is_text = profile.words >= 1.5 and profile.several < 0.2 and not is_negative(profile.name)
            return is_text and profile.numbers < 0.2 and profile.files < 0.2 and profile.lists < 0.2
        case "video":
            return (profile.files >= MOST or profile.uploads >= MOST) and profile.urls < 0.2
        case "url":
            return profile.files >= MOST and profile.urls >= MOST
        case "start_time" | "end_time":
            return profile.times >= MOST
        case "source_id":
            return (profile.tokens >= MOST or profile.uploads >= MOST) and profile.urls < 0.2 and profile.lists < 0.2
        case "id":
            is_unique = profile.distinct == 1 or (plain_name(profile.name) == "id" and profile.distinct >= MOST)
            return profile.tokens >= MOST and is_unique and profile.lists < 0.2
        case "split":
            return profile.tokens >= MOST and profile.numbers < 0.2
        case "class_label":
            return profile.lists < 0.2 and profile.words <= _CLASS_WORDS and not is_negative(profile.name)
        case "category" | "movie" | "subtest":
            return profile.lists < 0.2 and profile.words <= 6 and profile.questions < 0.2
    return profile.lists < 0.2
