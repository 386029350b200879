"""Collect the families of features of a set of questions: numbers per option, keys per option, types of question.

The families follow those of a feature-based solver of visual benchmarks (TsT, arXiv 2511.04655) and add relations among
options, between option and question, between items, and to the file. No function here takes answers.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foilworks.core.solver import keys, option_features, reserved, set_features
from foilworks.core.solver.keys import KeysOfOptions, differing_keys
from foilworks.core.solver.layout import TIE, Layout, relative_columns, spread_of_one
from foilworks.core.solver.option_features import Columns
from foilworks.core.solver.questions import Question
from foilworks.core.solver.solution import Tier

Floats = NDArray[np.float64]
# Types of question that have features of their own, and the share of items that each needs.
MAX_TYPES, MIN_TYPE_SHARE = 24, 0.02
# Codes of a column of types; the trees read at most 255.
MAX_CODES = 60

NumberFamily = Callable[[Layout], Columns]
NUMBER_FAMILIES: Mapping[str, tuple[Tier, NumberFamily]] = {
    "surface form": ("item", option_features.surface_form),
    "length and word classes": ("item", option_features.lengths),
    "relations among options": ("item", option_features.among_options),
    "relation to the question": ("item", option_features.beside_question),
    "numbers": ("item", option_features.numbers),
    "position": ("item", option_features.position),
    "other items of the video": ("set", set_features.neighbours),
    "repeats in the set": ("set", set_features.repeats),
    "order of the file": ("file", set_features.file_order),
    "ids and metadata": ("file", set_features.metadata),
}
# Keys whose rates are counted (foilworks.core.solver.encoding).
RATE_FAMILIES: Mapping[str, tuple[Tier, keys.Family]] = {
    "option as a whole": ("item", keys.whole_options),
    "type of question": ("item", keys.types_and_options),
    "words of the question with the option": ("item", keys.question_words_and_options),
    "words of the question with words of the option": ("item", keys.words_and_words),
    "pairs of words": ("item", keys.word_pairs),
    "equal questions of other videos": ("set", keys.whole_questions_and_options),
    "rows and metadata": ("file", keys.rows_of_file),
    "names with words": ("file", keys.names_and_words),
    "names with options": ("file", keys.names_and_options),
}
# Keys that a linear model weighs (foilworks.core.solver.choice_model).
WORDS, CROSSED, FORM_BY_TYPE = (
    "words of the option",
    "words crossed with the question",
    "form of the option by type of question",
)
# Families that no selection of items reads.
CHARACTERS, COMPONENTS = "characters", "components of the characters"
RESERVED_NUMBERS: Mapping[str, tuple[Tier, NumberFamily]] = {COMPONENTS: ("item", reserved.components)}
RESERVED = (CHARACTERS, COMPONENTS)
SELECTING = (*NUMBER_FAMILIES, *RATE_FAMILIES, WORDS, CROSSED, FORM_BY_TYPE)


@dataclass(frozen=True)
class Design:
    """All features of n questions with R options.

    `numbers`: (R, F), centred within items, so that 0 says nothing; `families`, `names`, `tiers`: F each. `types`:
    (R, T) codes of the type of question for trees. `linear`: (R, K) matrices by family; `rates`: keys by family.
    """

    layout: Layout
    numbers: Floats
    families: NDArray[np.str_]
    names: Sequence[str]
    tiers: NDArray[np.str_]
    types: Floats
    linear: Mapping[str, sparse.csr_matrix]
    rates: Mapping[str, KeysOfOptions]

    @classmethod
    def of(
        cls, questions: Sequence[Question], number_families: Mapping[str, tuple[Tier, NumberFamily]] = NUMBER_FAMILIES
    ) -> "Design":
        """Return the features of questions. `number_families`: name -> (tier, function of the layout)."""
        layout = Layout.of(questions)
        numbers = _numbers(layout, number_families, _of_statements(layout))
        is_rank = np.array([name.startswith("rank: ") for name in numbers.names], dtype=bool)
        linear = {
            WORDS: differing_keys(layout, keys.option_words(layout)).matrix,
            CROSSED: differing_keys(layout, keys.crossed_words(layout)).matrix,
            FORM_BY_TYPE: _by_type(layout, numbers.values[:, is_rank & (numbers.tiers == "item")]),
        }
        rates = {family: differing_keys(layout, function(layout)) for family, (_, function) in RATE_FAMILIES.items()}
        return cls(layout, *numbers, _types(layout), linear, rates)

    @classmethod
    def of_reserved(cls, questions: Sequence[Question]) -> "Design":
        """Return the features of questions that no selection reads."""
        layout = Layout.of(questions)
        linear = {CHARACTERS: differing_keys(layout, reserved.characters(layout)).matrix}
        return cls(layout, *_numbers(layout, RESERVED_NUMBERS, {}), _types(layout), linear, {})


class _Numbers(NamedTuple):
    values: Floats
    families: NDArray[np.str_]
    names: Sequence[str]
    tiers: NDArray[np.str_]


def _numbers(
    layout: Layout, number_families: Mapping[str, tuple[Tier, NumberFamily]], of_statements: Columns
) -> _Numbers:
    """Return the columns that differ, each with a spread of 1."""
    blocks = []
    for family, (tier, compute) in number_families.items():
        columns = compute(layout)
        raw = np.column_stack(list(columns.values()))
        rank, equal = relative_columns(layout, raw)
        for values, form in ((layout.centred(raw), ""), (rank, "rank: "), (layout.centred(equal), "shared: ")):
            blocks.append(_block(values, [form + name for name in columns], family, tier))
    if of_statements:
        values = np.column_stack(list(of_statements.values()))
        blocks.append(_block(values, list(of_statements), "form of the statement", "item"))
    return _Numbers(
        np.hstack([block.values for block in blocks]),
        np.concatenate([block.families for block in blocks]),
        [name for block in blocks for name in block.names],
        np.concatenate([block.tiers for block in blocks]),
    )


def _block(values: Floats, names: Sequence[str], family: str, tier: Tier) -> _Numbers:
    is_used = values.std(axis=0) > TIE
    used_names = [name for name, used in zip(names, is_used, strict=True) if used]
    n_used = len(used_names)
    return _Numbers(spread_of_one(values[:, is_used]), np.full(n_used, family), used_names, np.full(n_used, tier))


def _of_statements(layout: Layout) -> Columns:
    """Return numbers of a labelled statement, with the sign of its label."""
    row_words = layout.question_words
    n_words = np.array([len(row) for row in row_words], dtype=float)
    frequency = np.array(
        [np.mean([np.log(layout.question_frequency[word]) for word in row] or [0.0]) for row in row_words]
    )
    counts = {
        "words of the statement": n_words,
        "characters of the statement": np.array([len(question.text) for question in layout.questions], dtype=float),
        "frequency of its words": frequency,
    }
    for name, count in option_features.WORD_TESTS.items():
        counts[f"{name} (statement)"] = np.array([float(count(row)) for row in row_words])
    for name, test in option_features.SURFACE_TESTS.items():
        counts[f"{name} (statement)"] = np.array([float(test(question.text)) for question in layout.questions])
    is_label = layout.is_label
    sign = np.where(is_label[layout.item], np.where(layout.position > 0, 0.5, -0.5), 0.0)
    columns = {}
    for name, values in counts.items():
        middle = values[is_label].mean() if is_label.any() else 0.0
        columns[name] = sign * (values - middle)[layout.item]
    return columns


def _types(layout: Layout) -> Floats:
    """Return (R, T) codes of kind, opening, first and last word of the question, number of options and index."""
    asked = layout.question_words
    series = [
        [question.kind for question in layout.questions],
        layout.openings,
        [" ".join(row[:1]) for row in asked],
        [" ".join(row[-1:]) for row in asked],
        [str(size) for size in layout.sizes],
    ]
    columns = [_codes(names)[layout.item] for names in series]
    return np.column_stack([*columns, np.clip(set_features.index_of(layout), -1, MAX_CODES)]).astype(np.float64)


def _codes(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the rank of each name by frequency, rare names together."""
    frequent = Counter(names).most_common(MAX_CODES)
    codes = {name: code for code, (name, count) in enumerate(sorted(frequent, key=lambda row: (-row[1], row[0])))}
    return np.array([codes.get(name, MAX_CODES) for name in names])


def _by_type(layout: Layout, ranks: Floats) -> sparse.csr_matrix:
    """Return the ranks of options within their item, one block of columns per type of question."""
    kinds = [question.kind for question in layout.questions]
    types = kinds if len(set(kinds)) > 1 else layout.openings
    least = max(10, MIN_TYPE_SHARE * len(types))
    frequent = [name for name, count in Counter(types).most_common(MAX_TYPES) if count >= least]
    if len(frequent) < 2:
        return sparse.csr_matrix((layout.n_rows, 1))
    of_items = np.array(types, dtype=object)
    of_all = sparse.csr_matrix(np.where(np.abs(ranks) > 1e-9, ranks, 0.0))
    return sparse.hstack(
        [sparse.diags((of_items == name)[layout.item].astype(float)) @ of_all for name in frequent]
    ).tocsr()
