"""Name the columns that published benchmarks use for each role, and find a role in a record."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

# Role -> the names that published benchmarks give it, the more specific first.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "qid", "question_id", "item_id", "item", "uid", "q_uid", "sample_id", "identifier", "index"),
    "video": (
        "video_file",
        "video_id",
        "video_name",
        "video_path",
        "videopath",
        "videoid",
        "gif_name",
        "vid_id",
        "video",
        "vid",
        "clip",
        "image_file",
        "filename",
        "filepath",
        "image_id",
        "image_path",
        "image_name",
        "image",
        "youtube_id",
        "dataset_idx",
    ),
    "subtest": ("subtest", "task_type", "question_type", "aspect", "task", "category", "type"),
    "split": ("split",),
    "question": ("question", "query"),
    # What a label or a yes is about, if no column is called question.
    "statement": ("statement", "sentence", "hypothesis", "claim", "caption", "query", "text", "prompt"),
    "right": (
        "caption",
        "true_caption",
        "positive_caption",
        "pos_caption",
        "pos_cap",
        "positive",
        "correct_caption",
        "sentence",
    ),
    "wrongs": (
        "foils",
        "foil",
        "negative_caption",
        "negative_captions",
        "counterfactual",
        "false_caption",
        "neg_caption",
        "neg_cap",
        "hard_negatives",
        "hard_negs",
        "negatives",
        "negative",
        "distractors",
        "wrong_caption",
        "wrong_sentence",
        "incorrect_caption",
        "foil_caption",
    ),
    "options": ("options", "candidates", "choices", "caption_options", "answer_options", "option"),
    "answer": (
        "answer",
        "label",
        "correct_answer",
        "answer_id",
        "answer_idx",
        "correct_choice",
        "correct_option",
        "gt",
        "gt_answer",
        "correct",
        "correct_idx",
        "ground_truth",
        "truth",
        "match",
    ),
    "licence": ("license", "licence"),
    "language": ("language", "lang"),
}
# `statement` is not a role of its own: --column question=NAME maps it.
ROLES = tuple(role for role in NAMES if role != "statement")
# Columns with one option each: a0, ending0, option_0, choice_a, answer_a, A …
SERIES = tuple(
    re.compile(form)
    for form in (
        r"a[0-9]",
        r"s[0-9]",
        r"ending[0-9]",
        r"option[ _]?([0-9]|[a-j])",
        r"choice[ _]?([0-9]|[a-j])",
        r"answer[ _]?([0-9]|[a-j])",
        r"candidate[ _]?([0-9]|[a-j])",
        r"caption[ _]?([0-9]|[a-j])",
        r"[A-J]",
    )
)
MAX_LABEL = 200

Columns = Mapping[str, str]


def named(values: Mapping[str, Any], role: str, columns: Columns) -> Any:
    """Return the value of a role: of the mapped column, or of the first of the known names; None without one."""
    if role in columns:
        names = [name.strip() for name in columns[role].split("+")]
        role_values = [values.get(name) for name in names]
        return role_values[0] if len(names) == 1 else [value for value in role_values if value is not None]
    if role in {"right", "wrongs"} and {"options", "answer"} & columns.keys():
        return None
    return next((values[name] for name in columns_of(values, role)), None)


def columns_of(values: Mapping[str, Any], role: str) -> list[str]:
    """Return the columns of a record that have a known name of a role and a value; "Video Path" is video_path.

    An object has fields of its own, so it is not a text; options can be an object.
    """
    return [
        name
        for name in _known_columns(tuple(values), role)
        if values[name] is not None and (role == "options" or not isinstance(values[name], dict))
    ]


def has_role(names: Collection[str], role: str) -> bool:
    """Report whether one of the columns has a known name of the role."""
    return bool(_known_columns(tuple(names), role))


@lru_cache(maxsize=1000)
def _known_columns(names: tuple[str, ...], role: str) -> tuple[str, ...]:
    spelled = {name.strip().lower().replace(" ", "_"): name for name in reversed(names) if len(name) > 1}
    columns = [name if name in names else spelled.get(name) for name in NAMES[role]]
    return tuple(name for name in columns if name is not None)


def series_of(values: Mapping[str, Any], series: re.Pattern[str]) -> list[str]:
    """Return the columns of a record that have one option each, in order."""
    return sorted(name for name in values if series.fullmatch(name) and values[name] is not None)
