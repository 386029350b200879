"""Decide which column of a table is what: by the values of the first rows, then by the names. Pure.

Each role has a confidence and a reason. Below `SURE` a person decides: on the page of the import, or with `--column`.
A column whose name says that it is false is never the caption.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.corpus.import_formats.parsing.column_names import (
    NAMES,
    SERIES,
    WEAK_CAPTIONS,
    has_word,
    is_changed,
    is_negative,
    is_positive,
    name_words,
    names_text,
    plain_name,
)
from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile, profiles_of, resemblance
from foilworks.core.corpus.import_formats.parsing.column_scores import MOST, best_column, score_of
from foilworks.core.corpus.import_formats.parsing.row_values import (
    VALUE,
    Row,
    as_number,
    exploded,
    nested,
    value_at,
)
from foilworks.core.text.quoting import quoted

SURE = 0.5
_EXPLODED = frozenset(
    {"annotation", "annotations", "segments", "captions", "sentences", "events", "clips", "en_cap", "steps",
     "descriptions", "questions"}
)  # fmt: skip
_FIELDS = (
    "video", "url", "start_time", "end_time", "id", "source_id", "split", "class_label", "movie", "subtest", "category",
)  # fmt: skip
# Share of the rows whose clip is among the files.
_MOST_CLIPS = 0.5
# Share of the rows in which a foil resembles its caption.
_RESEMBLES = 0.5
# Score of a text that a name or resemblance makes the caption.
_NAMED = 0.45
_MAX_TEXTS = 12
_MAX_ROWS = 50


@dataclass(frozen=True)
class Guess:
    """The columns of a role, how sure that is (0 to 1), and why. `alternatives`: columns that a person can choose."""

    columns: tuple[str, ...]
    confidence: float
    reason: str
    alternatives: tuple[str, ...] = ()


@dataclass
class _Table:
    """The rows, the profiles of their columns, and the columns that have a role."""

    rows: Sequence[Row]
    profiles: Mapping[str, Profile]
    roles: dict[str, Guess] = field(default_factory=dict)

    def assign(self, role: str, columns: Iterable[str], confidence: float, reason: str, *others: str) -> None:
        self.roles[role] = Guess(tuple(columns), confidence, reason, others)

    def free(self) -> dict[str, Profile]:
        """Return the columns without a role."""
        used = {name for guess in self.roles.values() if guess.confidence >= SURE for name in guess.columns}
        return {name: profile for name, profile in self.profiles.items() if name not in used}


def roles_of(
    rows: Iterable[Row],
    *,
    video_names: Collection[str] = (),
    known: Mapping[str, Sequence[str]] | None = None,
    explode: str = "",
) -> dict[str, Guess]:
    """Return field -> guess: those of a recipe, and `question`. `known`: what a person said, field -> columns.

    `video_names`: names of the clips' files. `explode`: the column whose entries the rows are.
    """
    sample = list(rows)[:_MAX_ROWS]
    table = _Table(sample, profiles_of(sample, video_names))
    for role, columns in (known or {}).items():
        table.assign(role, columns, 1.0, "chosen")
    _assign_question(table)
    if "caption" not in table.roles:
        _assign_choices(table)
    if "candidates" not in table.roles:
        _assign_texts(table)
    for name in _FIELDS:
        if name not in table.roles and not (name == "source_id" and "video" in table.roles):
            _assign_best(name, table, explode)
    _name_the_clip(table.roles)
    if table.roles.keys() & {"foils", "candidates"}:
        _category_as_subtest(table.roles)
    return table.roles


def guess(
    rows: Iterable[Row],
    explode: str | None = None,
    *,
    video_names: Collection[str] = (),
    known: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """A recipe's document: `columns`, `explode` if one column has a list of records, `first_answer`.

    `explode`: the column of lists that a person chose, "" for none. Roles that are not sure are left out.
    """
    return guesses_of(rows, explode, video_names=video_names, known=known)[1]


def guesses_of(
    rows: Iterable[Row],
    explode: str | None = None,
    *,
    video_names: Collection[str] = (),
    known: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, Guess], dict[str, Any]]:
    """The roles, and the recipe's document of those that are sure."""
    rows = list(rows)
    explode = _list_column(rows) if explode is None else explode
    if explode:
        rows = [entry_row for row in rows for entry_row in exploded(row, explode)]
    roles = roles_of(rows, video_names=video_names, known=known, explode=explode)
    return roles, document_of(roles, rows, explode)


def sure_document(rows: Sequence[Row], video_names: Collection[str]) -> dict[str, Any] | None:
    """Return the recipe's document if nothing is left to decide, else None.

    All roles are sure, each record has false texts or candidates, and the clips of most rows are among the files.
    """
    roles, document = guesses_of(rows, video_names=video_names)
    if unsure(roles) or not document["columns"].keys() & {"foils", "candidates"} or "video" not in roles:
        return None
    if document.get("explode"):
        rows = [entry_row for row in rows for entry_row in exploded(row, document["explode"])]
    clips = profiles_of(rows, video_names)[roles["video"].columns[0]]
    return document if clips.uploads > _MOST_CLIPS else None


def unsure(roles: Mapping[str, Guess]) -> dict[str, Guess]:
    """Return the roles that a person must decide."""
    return {role: guess for role, guess in roles.items() if guess.confidence < SURE}


def question_about(roles: Mapping[str, Guess]) -> str:
    """Return what a person must decide, in the words of a message; "" if all is sure."""
    return "; ".join(
        f"{role} can be {' or '.join(map(quoted, guess.alternatives or guess.columns))} ({guess.reason})"
        for role, guess in unsure(roles).items()
    )


def document_of(roles: Mapping[str, Guess], rows: Sequence[Row], explode: str = "") -> dict[str, Any]:
    """The recipe's document of the roles that are sure."""
    sure = {role: guess.columns for role, guess in roles.items() if guess.confidence >= SURE}
    columns: dict[str, Any] = {
        role: list(names) if role in {"foils", "candidates"} else names[0] for role, names in sure.items()
    }
    document: dict[str, Any] = {"columns": columns, **({"explode": explode} if explode else {})}
    if "caption" not in columns:
        columns.pop("foils", None)
    if not columns.keys() & {"candidates", "foils"}:
        columns.pop("question", None)
    if "candidates" in columns and _counts_from_1(columns, rows):
        document["first_answer"] = 1
    if (file := columns.get("video")) and any(_is_absolute(row, file) for row in rows[:_MAX_ROWS]):
        columns["video"] = f"{{{file}:name}}"
    return document


def _counts_from_1(columns: Mapping[str, Any], rows: Sequence[Row]) -> bool:
    numbers, sizes = [], [0]
    for row in rows:
        numbers.append(as_number(value_at(row, columns["answer"])))
        sizes.append(len(_options(row, columns["candidates"])))
    valid = [number for number in numbers if number is not None]
    return len(valid) == len(numbers) > 0 and min(valid) == 1 and max(valid) == max(sizes) > 1


def _options(row: Row, names: Sequence[str]) -> list[str]:
    values = [nested(value_at(row, name)) for name in names]
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return [str(entry).strip() for entry in entries if entry is not None]


def _is_absolute(row: Row, name: str) -> bool:
    value = str(value_at(row, name))
    return value.startswith("/") or ".." in value or "\\" in value


# Questions and options


def _assign_question(table: _Table) -> None:
    scores = {
        name: (2.0 if plain_name(name) == "question" else float(has_word(name, "question"))) + profile.questions
        for name, profile in table.free().items()
        if profile.words >= 1 and profile.lists < 0.2 and profile.files < 0.2 and not is_negative(name)
    }
    name = max(scores, key=lambda name: scores[name], default="")
    if name and (scores[name] > 1 or scores[name] >= MOST):
        table.assign("question", [name], min(1.0, scores[name]), "its texts are questions")


def _assign_choices(table: _Table) -> None:
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


def _option_columns(table: _Table) -> Iterator[list[str]]:
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
    yield from (names for names in by_stem.values() if len(names) > 1 and not is_negative(names[0]))
    lists = [name for name, profile in free.items() if _is_list_of_texts(profile) and not is_negative(name)]
    for is_named in (True, False):
        for name in reversed(lists):
            if (plain_name(name) in NAMES["options"] or has_word(name, "options")) == is_named:
                yield [name]


def _is_list_of_texts(profile: Profile) -> bool:
    lists = [nested(value) for value in profile.values]
    return bool(lists) and all(
        isinstance(value, list) and len(value) > 1 and not any(isinstance(entry, Mapping | list) for entry in value)
        for value in lists
    )


def _answer_score(name: str, profile: Profile, table: _Table, options: Sequence[str]) -> float:
    """1 and more for a column that names an option in most rows, by its text, letter, column or number."""
    texts = letters = n = 0
    for row in table.rows:
        value = value_at(row, name)
        if value is None or value == "":
            continue
        n += 1
        entries, text = _options(row, options), str(value).strip()
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
    return 0.8 * (texts / max(1, n) >= MOST) + 0.4 * (letters > texts) + is_named


# Captions and foils


def _assign_texts(table: _Table) -> None:
    """Assign the caption and its foils: names say which text is false, and resemblance which texts belong together."""
    free = table.free()
    asks = "question" in table.roles
    false_texts = [name for name, profile in free.items() if is_negative(name) and _is_foil(profile, asks=asks)]
    if "foils" in table.roles:
        false_texts = list(table.roles["foils"].columns)
    texts = [name for name, profile in free.items() if _can_be_caption(name, profile, asks=asks)][:_MAX_TEXTS]
    if "caption" in table.roles:
        _assign_foils(table, table.roles["caption"].columns[0], false_texts, texts)
    elif false_texts:
        _assign_caption_of(table, false_texts, texts)
    else:
        _assign_caption(table, texts)


def _is_foil(profile: Profile, *, asks: bool) -> bool:
    is_list = profile.lists >= MOST and not any(isinstance(nested(value), Mapping) for value in profile.values)
    is_text = profile.lists < 0.2 and profile.numbers < 0.2 and profile.files < 0.2
    return profile.filled > 0 and (is_list or (is_text and profile.words >= (0.5 if asks else 1.5)))


def _can_be_caption(name: str, profile: Profile, *, asks: bool) -> bool:
    is_text = profile.words >= (0.5 if asks else 1.5) and profile.several < 0.2
    is_other = max(profile.numbers, profile.files, profile.lists, profile.urls) >= 0.2
    return is_text and not is_other and not is_negative(name) and profile.times < MOST and profile.uploads < MOST


def _assign_foils(table: _Table, caption: str, false_texts: Sequence[str], texts: Sequence[str]) -> None:
    foils = [name for name in false_texts if name != caption]
    if not foils:
        foils = [name for name in texts if name != caption and resemblance(table.rows, name, caption) >= _RESEMBLES]
    if foils:
        table.assign("foils", foils, 0.9, f"false by their names, or few words differ from {quoted(caption)}")


def _assign_caption_of(table: _Table, false_texts: list[str], texts: Sequence[str]) -> None:
    """Assign the text that the false ones were made from."""
    scores = {
        name: _name_score(name) + max(resemblance(table.rows, false_text, name) for false_text in false_texts)
        for name in texts
    }
    ranked = sorted(scores, key=lambda name: -scores[name])
    reason = "names say that they are false"
    foils = _without_other_pairs(table, false_texts)
    if not ranked:
        return
    best = ranked[0]
    lead = scores[best] - max((scores[name] for name in ranked[1:]), default=0.0)
    is_sure = scores[best] >= _NAMED and lead >= 0.1
    table.assign("foils", foils, 0.95 if is_sure else 0.6, reason)
    if is_sure:
        table.assign("caption", [best], 0.95, f"few words differ from {quoted(foils[0])}, or its name says so")
    else:
        alternatives = tuple(name for name in ranked if scores[best] - scores[name] < 0.3)
        table.assign("caption", [best], 0.4, "no text resembles the false ones, or several do", *alternatives)


def _without_other_pairs(table: _Table, false_texts: list[str]) -> list[str]:
    """Leave out texts inside a column that is a list of them already."""
    return [name for name in false_texts if not any(name.startswith(f"{other}.") for other in false_texts)]


def _name_score(name: str) -> float:
    plain, last = plain_name(name), plain_name(name.rpartition(".")[2])
    score = 0.0
    if plain in NAMES["right"] or last in NAMES["right"]:
        score = 0.6
    elif is_positive(name):
        score = 0.55 if names_text(name) else 0.45
    elif names_text(name):
        score = 0.25 if plain in WEAK_CAPTIONS else 0.45
    return score - 0.3 * is_changed(name)


def _assign_caption(table: _Table, texts: Sequence[str]) -> None:
    """Assign the caption of a table in which no name says that a text is false."""
    pairs = {
        (name, other_name)
        for k, name in enumerate(texts)
        for other_name in texts[k + 1 :]
        if resemblance(table.rows, name, other_name) >= _RESEMBLES
    }
    paired = [name for name in texts if any(name in pair for pair in pairs)]
    true_texts = [name for name in paired if is_positive(name)]
    named = [name for name in paired if plain_name(name) in NAMES["right"]]
    unchanged = [name for name in paired if not is_changed(name)]
    single = next((names for names in (true_texts, named, unchanged) if len(names) == 1), [])
    if single:
        foils = [name for name in paired if name != single[0]]
        table.assign("caption", single, 0.85, f"few words differ from {quoted(foils[0])}")
        table.assign("foils", foils, 0.75, f"few words differ from {quoted(single[0])}")
        return
    if paired:
        table.assign("caption", paired[:1], 0.4, "several texts resemble each other, and no name says which is true",
                     *paired)  # fmt: skip
        return
    scores = {name: score_of("caption", table.profiles[name]) for name in texts}
    best = max(scores, key=lambda name: scores[name], default="")
    if best and scores[best] > 0:
        by_content = [name for name in texts if scores[name] >= 0.2]
        is_sure = scores[best] >= 0.9 or len(by_content) == 1
        others = () if is_sure else by_content
        table.assign("caption", [best], 0.9 if is_sure else 0.4, "named like a caption, or the only text", *others)


# Other fields


def _assign_best(role: str, table: _Table, explode: str) -> None:
    """Of a list's entries, times come from the entry, names of clips from around it, and no id is unique."""
    if explode and role == "id":
        return
    free = table.free()
    inside = {name for name in free if explode and (name == explode or name.startswith(f"{explode}."))}
    preferred = free.keys() - inside if role in {"source_id", "video", "url"} else inside
    best = best_column(role, {name: profile for name, profile in free.items() if name in preferred})
    if not best and role != "source_id":
        best = best_column(role, free)
    if best:
        score = score_of(role, free[best])
        table.assign(role, [best], min(1.0, 0.5 + score / 2), "its values and its name")


def _name_the_clip(roles: dict[str, Guess]) -> None:
    """Without any other name of the clip, the id of the row is the one."""
    if "id" in roles and not {"video", "url", "source_id"} & roles.keys():
        roles["source_id"] = roles.pop("id")


def _category_as_subtest(roles: dict[str, Guess]) -> None:
    """Of items, the kind of the question or of the foil is the subtest."""
    if "subtest" not in roles and "category" in roles:
        roles["subtest"] = roles.pop("category")


def _list_column(rows: Sequence[Row]) -> str:
    """A column of lists of objects or sentences, each of which becomes a record."""
    for name in {name: None for row in rows for name in row}:
        if name != VALUE and plain_name(name) not in _EXPLODED:
            continue
        lists = [nested(row.get(name)) for row in rows]
        full = [entries for entries in lists if isinstance(entries, list) and entries]
        if full and all(isinstance(entry, Mapping | str) for entries in full for entry in entries[:5]):
            return name
    return ""
