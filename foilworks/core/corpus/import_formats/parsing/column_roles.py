"""Decide which column of a table is what: by the values of the first rows, then by the names. Pure.

Each role has a confidence and a reason. Below `SURE` a person decides: on the page of the import, or with `--column`.
A column whose name says that it is false is never the caption.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

from foilworks.core.corpus.import_formats.parsing.choice_columns import (
    assign_choices,
    assign_labels,
    assign_question,
    label_in,
    options_of,
)
from foilworks.core.corpus.import_formats.parsing.column_names import (
    NAMES,
    WEAK_CAPTIONS,
    is_changed,
    is_negative,
    is_positive,
    is_remark,
    name_words,
    names_text,
    plain_name,
)
from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile, closeness, profiles_of, resemblance
from foilworks.core.corpus.import_formats.parsing.column_scores import MOST, best_column, score_of
from foilworks.core.corpus.import_formats.parsing.column_table import SURE, Guess, Table
from foilworks.core.corpus.import_formats.parsing.row_values import (
    VALUE,
    Row,
    as_number,
    exploded,
    nested,
    value_at,
)
from foilworks.core.text.quoting import quoted

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
_LEAD = 0.1
_MAX_TEXTS = 12
_MAX_ROWS = 50


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
    table = Table(sample, profiles_of(sample, video_names))
    for role, columns in (known or {}).items():
        table.assign(role, columns, 1.0, "chosen")
    assign_question(table)
    if "caption" not in table.roles:
        assign_choices(table)
    if "candidates" not in table.roles:
        _assign_texts(table)
    if not table.roles.keys() & {"candidates", "foils", "answer"}:
        assign_labels(table)
        if "caption" in table.roles and unsure(table.roles).keys() == {"answer"}:
            # Some of these texts may be false.
            name = table.roles["caption"].columns[0]
            table.assign("caption", [name], 0.4, "no heading says which of its texts are true", name)
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
    is_guessed = explode is None
    explode = _list_column(rows) if explode is None else explode
    if explode:
        lists = [row for row in rows if isinstance(nested(value_at(row, explode)), list | Mapping)]
        rows = [entry_row for row in lists for entry_row in exploded(row, explode)]
    roles = roles_of(rows, video_names=video_names, known=known, explode=explode)
    if is_guessed and explode and "caption" in roles and not (known or {}).get("caption"):
        roles["caption"] = _with_its_entries(roles, explode)
    return roles, document_of(roles, rows, explode)


def _with_its_entries(roles: Mapping[str, Guess], explode: str) -> Guess:
    """Return the caption's guess, unsure if no role is inside the entries: they may say that the text is false."""
    columns = [name for guess in roles.values() for name in guess.columns]
    if any(name == explode or name.startswith(f"{explode}.") for name in columns):
        return roles["caption"]
    return replace(roles["caption"], confidence=0.0, reason=f"the entries of {quoted(explode)} may say what is false")


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
    if "answer" not in columns:
        columns.pop("candidates", None)
    if "answer" in columns and "candidates" not in columns:
        label = columns.pop("answer")
        true_cells = sorted({str(cell) for row in rows if label_in(label, cell := value_at(row, label))})
        if columns.pop("caption", None) and not re.search(r"[=<>]| in ", label) and "," not in "".join(true_cells):
            columns["caption"] = sure["caption"][0]
            document["where"] = [f"{label} in {', '.join(true_cells)}"]
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
        sizes.append(len(options_of(row, columns["candidates"])))
    valid = [number for number in numbers if number is not None]
    return len(valid) == len(numbers) > 0 and min(valid) == 1 and max(valid) == max(sizes) > 1


def _is_absolute(row: Row, name: str) -> bool:
    value = str(value_at(row, name))
    return value.startswith("/") or ".." in value or "\\" in value


# Captions and foils


def _assign_texts(table: Table) -> None:
    """Assign the caption and its foils: names say which text is false, and resemblance which texts belong together."""
    free = table.free()
    asks = "question" in table.roles
    false_texts = [name for name, profile in free.items() if is_negative(name) and _is_foil(profile, asks=asks)]
    false_texts = list(table.roles["foils"].columns) if "foils" in table.roles else _true_foils(table, false_texts)
    texts = [name for name, profile in free.items() if _can_be_caption(name, profile, asks=asks)][:_MAX_TEXTS]
    if "caption" in table.roles:
        _assign_foils(table, table.roles["caption"].columns[0], false_texts, texts)
    elif false_texts:
        _assign_caption_of(table, false_texts, texts)
    else:
        _assign_caption(table, texts)


def _true_foils(table: Table, false_texts: list[str]) -> list[str]:
    """Return the false texts; of columns such as "what edit 1 got wrong", the text that they name instead.

    A remark on an error resembles no text of the record; a false text does.
    """
    others = [name for name, profile in table.free().items() if _can_be_caption(name, profile, asks=False)]
    alike = [name for name in false_texts if any(_resemble(table, name, other) for other in others + false_texts)]
    if alike or not any(_resemble(table, first, second) for first, second in combinations(others, 2)):
        shortest = min((table.profiles[name].words for name in alike), default=0.0) / 2
        return [name for name in false_texts if name in alike or table.profiles[name].words >= shortest]
    words_of_remarks = [{*name_words(name)} for name in table.free() if is_negative(name)]
    named = [name for name in others if any({*name_words(name)} < words for words in words_of_remarks)]
    return named if len(named) < len(others) else []


def _resemble(table: Table, name: str, other: str) -> bool:
    return name != other and resemblance(table.rows, name, other) >= _RESEMBLES


def _is_foil(profile: Profile, *, asks: bool) -> bool:
    is_list = profile.lists >= MOST and not any(isinstance(nested(value), Mapping) for value in profile.values)
    is_text = profile.lists < 0.2 and profile.numbers < 0.2 and profile.files < 0.2
    return profile.filled > 0 and (is_list or (is_text and profile.words >= (0.5 if asks else 1.5)))


def _can_be_caption(name: str, profile: Profile, *, asks: bool) -> bool:
    is_text = profile.words >= (0.5 if asks else 1.5) and profile.several < 0.2
    is_other = max(profile.numbers, profile.files, profile.lists, profile.urls) >= 0.2 or is_remark(name)
    return is_text and not is_other and not is_negative(name) and profile.times < MOST and profile.uploads < MOST


def _assign_foils(table: Table, caption: str, false_texts: Sequence[str], texts: Sequence[str]) -> None:
    foils = [name for name in false_texts if name != caption]
    if not foils:
        foils = [name for name in texts if name != caption and resemblance(table.rows, name, caption) >= _RESEMBLES]
    if foils:
        table.assign("foils", foils, 0.9, f"false by their names, or few words differ from {quoted(caption)}")


def _assign_caption_of(table: Table, false_texts: list[str], texts: Sequence[str]) -> None:
    """Assign the text that the false ones were made from; of a list of true texts, the one that resembles them."""
    texts = [*texts, *_lists_of_captions(table, false_texts[0])]
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
    if scores[best] >= _NAMED and lead < _LEAD:
        # Paraphrases share words with the foil, too, and fewer of them.
        near = {name: closeness(table.rows, foils[0], name) for name in ranked if scores[best] - scores[name] < _LEAD}
        best, *others = sorted(near, key=lambda name: -near[name])
        lead = near[best] - near[others[0]]
    is_sure = scores[best] >= _NAMED and lead >= _LEAD
    table.assign("foils", foils, 0.95 if is_sure else 0.6, reason)
    if is_sure:
        table.assign("caption", [best], 0.95, f"few words differ from {quoted(foils[0])}, or its name says so")
    else:
        alternatives = tuple(name for name in ranked if scores[best] - scores[name] < 0.3)
        table.assign("caption", [best], 0.4, "no text resembles the false ones, or several do", *alternatives)


def _lists_of_captions(table: Table, false_text: str) -> list[str]:
    """Return the nearest entry of each list of texts whose name says that they are true, such as `captions.0`."""
    entries = []
    for name, profile in table.free().items():
        lists = [nested(value) for value in profile.values]
        is_named = (names_text(name) or is_positive(name)) and not (is_negative(name) or is_changed(name))
        if (
            is_named
            and lists
            and all(isinstance(value, list) and value and isinstance(value[0], str) for value in lists)
        ):
            numbers = range(min(map(len, lists)))
            entries.append(max((f"{name}.{n}" for n in numbers), key=partial(resemblance, table.rows, false_text)))
    return entries


def _without_other_pairs(table: Table, false_texts: list[str]) -> list[str]:
    """Leave out texts inside a column that is a list of them already."""
    return [name for name in false_texts if not any(name.startswith(f"{other}.") for other in false_texts)]


def _name_score(name: str) -> float:
    plain, last = plain_name(name), plain_name(name.rpartition(".")[2])
    score = 0.0
    if plain in NAMES["right"] or last in NAMES["right"]:
        score = 0.6
    elif is_positive(name):
        score = 0.6 if names_text(name) else 0.5
    elif names_text(name):
        score = 0.25 if plain in WEAK_CAPTIONS else 0.45
    return score - 0.3 * is_changed(name)


def _assign_caption(table: Table, texts: Sequence[str]) -> None:
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
        foils = [name for name in paired if {(single[0], name), (name, single[0])} & pairs]
        table.assign("caption", single, 0.85, f"few words differ from {quoted(foils[0])}")
        table.assign("foils", foils, 0.75, f"few words differ from {quoted(single[0])}")
        return
    if paired:
        table.assign("caption", paired[:1], 0.4, "several texts resemble each other, and no name says which is true",
                     *paired)  # fmt: skip
        return
    if _assign_changed_list(table, texts):
        return
    scores = {name: score_of("caption", table.profiles[name]) for name in texts}
    best = max(scores, key=lambda name: scores[name], default="")
    if best and scores[best] > 0:
        by_content = [name for name in texts if scores[name] >= 0.2]
        is_sure = scores[best] >= 0.9 or len(by_content) == 1
        others = () if is_sure else by_content
        table.assign("caption", [best], 0.9 if is_sure else 0.4, "named like a caption, or the only text", *others)


def _assign_changed_list(table: Table, texts: Sequence[str]) -> bool:
    """Assign a list of edits of the only text that they resemble, such as `edits.*.text`; report whether there is one.

    The name must say that they are changed: a list of paraphrases is true.
    """
    lists = [name for name, profile in table.free().items() if is_changed(name) and profile.lists >= MOST]
    pairs = [(text, name) for name in lists for text in texts if _resemble(table, text, name)]
    if len({text for text, _name in pairs}) != 1:
        return False
    text, name = pairs[0]
    table.assign("caption", [text], 0.8, f"few words differ from the entries of {quoted(name)}")
    table.assign("foils", [name], 0.75, f"edits of {quoted(text)}, by their name")
    return True


# Other fields


def _assign_best(role: str, table: Table, explode: str) -> None:
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
