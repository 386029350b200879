"""Find questions, options, answers and labels among the columns of a table, by their values first. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foilworks.core.corpus.import_formats.parsing.answer_styles import label_of, word_of_label
from foilworks.core.corpus.import_formats.parsing.cell_lists import options_in
from foilworks.core.corpus.import_formats.parsing.column_names import (
    NAMES,
    SERIES,
    has_word,
    is_negative,
    is_of_errors,
    is_positive,
    name_words,
    plain_name,
)
from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile
from foilworks.core.corpus.import_formats.parsing.column_scores import MOST
from foilworks.core.corpus.import_formats.parsing.column_table import Table
from foilworks.core.corpus.import_formats.parsing.row_values import Row, as_number, nested, value_at
from foilworks.core.text.quoting import quoted

_ORDINAL = re.compile(
    r"first|second|third|fourth|fifth|sixth|erste[rs]?|zweite[rs]?|dritte[rs]?|vierte[rs]?|premiere?|deuxieme|"
    r"troisieme|quatrieme|primer[ao]?|segund[ao]|tercer[ao]?|cuart[ao]"
)


def assign_question(table: Table) -> None:
    scores = {
        name: (2.0 if plain_name(name) == "question" else float(has_word(name, "question"))) + profile.questions
        for name, profile in table.free().items()
        if profile.words >= 1 and profile.lists < 0.2 and profile.files < 0.2 and not is_negative(name)
    }
    name = max(scores, key=lambda name: scores[name], default="")
    if name and (scores[name] > 1 or scores[name] >= MOST):
        table.assign("question", [name], min(1.0, scores[name]), "its texts are questions")


def assign_choices(table: Table) -> None:
    """Assign the options and the right one: the column whose values are options, their letters or their numbers."""
    for options in _option_columns(table):
        free = {name: profile for name, profile in table.free().items() if name not in options}
        answers = [
            (_answer_score(name, profile, table, options), name)
            for name, profile in free.items()
            if profile.lists < 0.2 and not is_negative(name)
        ]
        score, answer = max(answers, default=(0.0, ""), key=lambda pair: pair[0])
        if score >= 1:
            table.assign("candidates", options, min(1.0, score), "a list of options, of which one is right")
            table.assign("answer", [answer], min(1.0, score), "its values name an option")
            return


def _option_columns(table: Table) -> Iterator[list[str]]:
    free = table.free()
    for series in SERIES:
        spellings = {name: (name.strip("()[]. "), plain_name(name)) for name in free}
        names = [name for name in free if any(map(series.fullmatch, spellings[name]))]
        names = [name for name in names if free[name].lists < 0.2 and not is_negative(name)]
        if len(names) > 1:
            yield names
    by_stem: dict[tuple[str, ...], list[str]] = {}
    for name in free:
        words = name_words(name)
        is_option = has_word(name, "options") or free[name].numbers < 0.5
        if len(words) > 1 and (words[-1].isdigit() or len(words[-1]) == 1) and is_option:
            by_stem.setdefault(words[:-1], []).append(name)
        elif len(words) > 1 and _ORDINAL.fullmatch(words[0]):
            by_stem.setdefault(words[1:], []).append(name)
    yield from (names for names in by_stem.values() if len(names) > 1 and not is_negative(names[0]))
    lists = [name for name, profile in free.items() if _is_list_of_texts(profile) and not is_negative(name)]
    for is_named in (True, False):
        for name in reversed(lists):
            if (plain_name(name) in NAMES["options"] or has_word(name, "options")) == is_named:
                yield [name]


def _is_list_of_texts(profile: Profile) -> bool:
    lists = [options_in(value) or [] for value in profile.values]
    return bool(lists) and all(
        len(entries) > 1
        and not any(isinstance(entry, Mapping | list) for entry in entries)
        and len({*map(str, entries)}) == len(entries)
        for entries in lists
    )


def _answer_score(name: str, profile: Profile, table: Table, options: Sequence[str]) -> float:
    """1 and more for a column that names an option in most rows, by its text, letter, column or number."""
    texts = letters = n = 0
    for row in table.rows:
        value = value_at(row, name)
        if value is None or value == "":
            continue
        n += 1
        entries, text = options_of(row, options), str(value).strip()
        number = as_number(value)
        texts += text in entries or text in options
        is_letter = len(text.strip("().")) == 1 and text.strip("().").isalpha()
        is_number = number is not None and number == int(number) and 0 <= number <= len(entries)
        letters += is_number or (is_letter and ord(text.strip("().").upper()) - ord("A") < len(entries))
    words = name_words(name)
    if plain_name(name) in NAMES["answer"]:
        is_named = 1.0
    else:
        is_named = 0.8 if has_word(name, "answer") or is_positive(name) else 0.0
    share = (texts + letters) / max(1, n)
    if share < MOST or (not is_named and (profile.numbers > 0.2 or {"id", "index", "split"} & {*words})):
        return 0
    # A text that is one of the options says it without a name.
    return 1.0 * (texts / max(1, n) >= MOST) + 0.4 * (letters > texts) + is_named


def assign_labels(table: Table) -> None:
    """Assign the column that says whether a text is true: two words or signs, or 0 and 1 under a name that says so."""
    text = table.roles.get("caption") or table.roles.get("question")
    if text is None:
        return
    scores: dict[str, float] = {}
    for name, profile in table.free().items():
        labels = [label_in(name, cell) for cell in profile.values]
        if {*labels} >= {True, False} and sum(label is not None for label in labels) >= MOST * len(labels):
            is_named = plain_name(name) in NAMES["answer"] or has_word(name, "answer")
            is_named = is_named or is_positive(name) or is_negative(name)
            scores[name] = is_named + (profile.numbers < MOST)
    best = max(scores, key=lambda name: scores[name], default="")
    if best and scores[best] >= 1 and list(scores.values()).count(scores[best]) == 1:
        table.assign("answer", [best], 0.8, f"says whether {quoted(text.columns[0])} is true")


def label_in(name: str, cell: Any) -> bool | None:
    """Return whether a cell says that its text is true; in a column such as "hallucinated", yes means false."""
    label = label_of(cell)
    return word_of_label(cell) if label is None or not is_of_errors(name) else not label


def options_of(row: Row, names: Sequence[str]) -> list[str]:
    values = [value_at(row, name) for name in names]
    values = [options_in(values[0]) or values[0]] if len(values) == 1 else list(map(nested, values))
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return [str(entry).strip() for entry in entries if entry is not None]
