"""Find questions, options, answers and labels among the columns of a table, by their values first. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foilworks.core.corpus.import_formats.parsing.answer_styles import (
    explains_itself,
    is_short_label,
    label_of,
    word_of_label,
)
from foilworks.core.corpus.import_formats.parsing.cell_lists import options_in
from foilworks.core.corpus.import_formats.parsing.column_names import (
    NAMES,
    SERIES,
    has_word,
    is_negative,
    is_of_errors,
    is_of_person,
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
    answer_column = table.roles["answer"].columns[0] if "answer" in table.roles else ""
    for options in _option_columns(table):
        if answer_column and _answer_score(answer_column, table.profiles[answer_column], table, options):
            table.assign("candidates", options, 1.0, f"{quoted(answer_column)} names one of them")
            return
        free = {name: profile for name, profile in table.free().items() if name not in options}
        answers = {
            name: score
            for name, profile in free.items()
            if profile.lists < 0.2 and not is_negative(name)
            if (score := _answer_score(name, profile, table, options)) >= 1
        }
        keys = {name: score for name, score in answers.items() if not is_of_person(name)}
        if not answers:
            continue
        best = max(answers, key=lambda name: keys.get(name, 0.0))
        rivals = [name for name in keys if keys[name] >= keys[best] - 0.3 and _differ(table, options, best, name)]
        sure = min(1.0, answers[best]) if best in keys and not rivals else 0.4
        table.assign("candidates", options, 1.0, "a list of options, of which one is right")
        reason = "its values name an option" + (", and its name does not say the right one" if sure < 1 else "")
        table.assign("answer", [best], sure, reason, *(dict.fromkeys([best, *rivals, *answers]) if sure < 1 else ()))
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
    for name, profile in free.items():
        named = {str(value).strip() for value in profile.values}
        if len(named) > 1 and named <= free.keys() - {name} and not is_negative(name):
            # An option that is never right has the first word of the others.
            stems = {name_words(option)[:1] for option in named}
            yield [option for option in free if option in named or stems == {name_words(option)[:1]}]
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
    if (
        texts
        and not is_named
        and len(options[0]) > 1
        and all(str(value).strip() in options for value in profile.values)
    ):
        # The column of the changed text, as likely as that of the right one.
        return 1.0 if is_of_person(name) else 0.0
    if share < MOST or (not is_named and (profile.numbers > 0.2 or {"id", "index", "split"} & {*words})):
        return 0
    # A text that is one of the options says it without a name.
    return 1.0 * (texts / max(1, n) >= MOST) + 0.4 * (letters > texts) + is_named


def _differ(table: Table, options: Sequence[str], name: str, other: str) -> bool:
    """Report whether two columns of answers name different options in a row."""
    if name == other:
        return False
    for row in table.rows:
        entries = options_of(row, options)
        indices = [_index(str(value_at(row, column) or "").strip(), entries, options) for column in (name, other)]
        if None not in indices and indices[0] != indices[1]:
            return True
    return False


def _index(text: str, entries: Sequence[str], options: Sequence[str]) -> int | None:
    for names in (entries, options):
        if text in names:
            return list(names).index(text)
    letter = text.strip("().").upper()
    return ord(letter) - ord("A") if len(letter) == 1 and "A" <= letter <= "J" else None


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
            words = [cell for cell in profile.values if isinstance(cell, str) and not is_short_label(cell)]
            scores[name] = is_named + (2.0 if any(map(explains_itself, words)) else 0.5 * (len(words) > 0))
    best = max(scores, key=lambda name: scores[name], default="")
    if not best or scores[best] < 0.5 or list(scores.values()).count(scores[best]) > 1:
        return
    if scores[best] >= 1:
        table.assign("answer", [best], 0.8, f"says whether {quoted(text.columns[0])} is true")
    else:
        # "Is there a mistake?" in a language that the names do not know would turn every label round.
        table.assign("answer", [best], 0.4, "its cells are yes and no, and its name does not say to what", best)


def label_in(name: str, cell: Any) -> bool | None:
    """Return whether a cell says that its text is true; in a column such as "hallucinated", yes means false."""
    label = label_of(cell)
    return word_of_label(cell) if label is None or not is_of_errors(name) else not label


def options_of(row: Row, names: Sequence[str]) -> list[str]:
    values = [value_at(row, name) for name in names]
    values = [options_in(values[0]) or values[0]] if len(values) == 1 else list(map(nested, values))
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return [str(entry).strip() for entry in entries if entry is not None]
