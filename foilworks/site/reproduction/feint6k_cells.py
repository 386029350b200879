"""The cells of Feint6K's tables, its claims in the text, and what its own numbers say about each other. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from foilworks.site.reproduction.table_cells import Caveat, Cell, compare, not_given
from foilworks.site.teacher.paper_rows import (
    FINETUNED,
    HUMAN,
    LGT,
    MEASURES,
    MSRVTT,
    TABLE_1,
    TABLE_2,
    VATEX,
    ZERO_SHOT,
    PaperRow,
)

T1, T2, CLAIMS, SIZES = "Feint6K, Table 1", "Feint6K, Table 2", "Feint6K, Sec. 1 and Fig. 1b", "Feint6K, Sec. 3.2"
STANDARD, R1, R2, RANK = MEASURES
PEOPLE = Caveat(
    "simulated", "40 simulated people who answer as often right as the paper's; it says nothing about real people"
)
TINY = "a small student that was drawn and trained here: give --weights {}=SPEC"
NOT_SCORED = "needs the weights and the videos: give --weights {}=SPEC and the folder videos"
SCORED = "made from the given files: other weights, frames or ties than the paper's give other numbers"
OF_ARRAY = "computed from the given array, which is of other weights or files than the authors'"
MSRVTT_PAGE, VATEX_PAGE = "ms-multimedia-challenge.com/2017/dataset", "eric-xw.github.io/vatex-website"
NOT_TRAINED = not_given("videos, MSRVTT_data.json or vatex_training_v1.0.json", f"{MSRVTT_PAGE} and {VATEX_PAGE}")
CHATBOT_NEEDED = Caveat("needs weights", "give the chatbot that changes captions with --weights chatbot=SPEC")
# Of ranks 3 to 6 by chance. A model whose other clips have a higher mean ranks them worse than chance.
CHANCE_MEAN = 4.5
Values = Mapping[str, float]


def row_name(row: PaperRow) -> str:
    """Return the name of a row with its section and model, unique in the table."""
    labels = (row.section.lower() if row.section in (ZERO_SHOT, FINETUNED) else "", row.base, row.name)
    return ", ".join(filter(None, labels))


def own_values(document: Mapping[str, Any]) -> dict[str, Values]:
    """Return {row: {measure: percent or rank}} of the paper's rows in the tables of one release."""
    release = str(document["releases"][0]["release"])
    rows = [row for row in document["table_1"] if row["of_paper"]]
    return {
        row_name(paper): _plain(row["cells"].get(release))
        for paper, row in zip(TABLE_1, rows, strict=True)
        if row["cells"].get(release)
    }


def _plain(cell: Mapping[str, Any]) -> dict[str, float]:
    return {name: value["value"] if name == RANK else 100 * value["value"] for name, value in cell["values"].items()}


def table_1(
    dataset: str, reproduced: Mapping[str, Values], tiny: set[str], absent: Caveat | None, other: Caveat | None
) -> Iterator[Cell]:
    """Yield the cells of one data set. `tiny`: rows whose model was drawn here; `absent`: the file that is missing.

    `other`: why numbers of the given files cannot be compared.
    """
    for paper in TABLE_1:
        name, model = row_name(paper), paper.base or paper.name
        needs = NOT_TRAINED if paper.base else Caveat("needs weights", NOT_SCORED.format(model))
        for measure, printed in zip(MEASURES, paper.printed.get(dataset, ()), strict=False):
            if printed is None:
                continue
            value, caveat = reproduced.get(name, {}).get(measure), other
            if value is None:
                caveat = absent or needs
            elif paper.name == HUMAN:
                caveat = PEOPLE
            elif model in tiny:
                caveat = Caveat("tiny model", TINY.format(model))
            column = f"{dataset}, {measure}"
            yield compare(T1, name, column, printed, value, digits=1, why=SCORED, caveat=caveat)


# What the README of the authors' code prints for LanguageBind: R@1, R@3, mean and median rank.
OF_README = {MSRVTT: (41.7, 76.5, 2.4, 2.0), VATEX: (43.2, 77.2, 2.3, 2.0)}
README = "Feint6K, README of the code"


def readme_cells(
    dataset: str, metrics: Mapping[str, Any] | None, absent: Caveat, other: Caveat | None
) -> Iterator[Cell]:
    """Yield the numbers that the authors' script prints for its own array. `metrics`: rcad of that array."""
    for name, printed in zip(("R@1", "R@3", "mean_rank", "median_rank"), OF_README[dataset], strict=True):
        value = None if metrics is None else metrics[name] * (1 if name.endswith("rank") else 100)
        caveat = absent if metrics is None else other
        column = f"{dataset}, {name}"
        yield compare(README, "LanguageBind", column, printed, value, digits=1, why=OF_ARRAY, caveat=caveat)


def table_2(document: Mapping[str, Any] | None, student: str, tiny: bool, other: Caveat | None) -> Iterator[Cell]:
    """Yield the ablation of captions: trainings of the student with soft logits on VATEX."""
    ablations = [
        ablation
        for ablation in (document or {}).get("table_2", ())
        if ablation["student"] == student and LGT in _objective_label(ablation)
    ]
    rows = [row for row in ablations[0]["rows"] if row["of_paper"]] if ablations else []
    for at, paper in enumerate(TABLE_2.values()):
        cell = rows[at]["cells"].get(str(ablations[0]["release"])) if rows else None
        values = _plain(cell) if cell else {}
        needs = CHATBOT_NEEDED if paper is TABLE_2["chatbot"] and rows else NOT_TRAINED
        of_student = Caveat("tiny model", TINY.format("InternVideo")) if tiny else other
        for measure, printed in zip(MEASURES, paper.printed[VATEX], strict=True):
            value = values.get(measure)
            caveat = needs if value is None else of_student
            yield compare(T2, paper.name, measure, printed, value, digits=1, why=SCORED, caveat=caveat)


def _objective_label(ablation: Mapping[str, Any]) -> str:
    return f"w/ {ablation['objective']}"


def claim_cells(
    reproduced: Mapping[str, Mapping[str, Values]], tiny: bool, other: Mapping[str, Caveat | None]
) -> Iterator[Cell]:
    """Yield differences that the text states: InternVideo against standard retrieval, and against people."""
    zero, tuned, human = "zero-shot, InternVideo", "finetuned, InternVideo", HUMAN
    for row, dataset, paper, (high, of_high), (low, of_low) in (
        ("InternVideo, pretraining only: standard R@1 - R@1", VATEX, 32.8, (zero, STANDARD), (zero, R1)),
        ("InternVideo, finetuned: standard R@1 - R@1", VATEX, 29.7, (tuned, STANDARD), (tuned, R1)),
        ("people - InternVideo, finetuned: R@1", MSRVTT, 36.6, (human, R1), (tuned, R1)),
        ("people - InternVideo, finetuned: R@1", VATEX, 38.6, (human, R1), (tuned, R1)),
    ):
        values_of_set = reproduced.get(dataset, {})
        first, second = values_of_set.get(high, {}).get(of_high), values_of_set.get(low, {}).get(of_low)
        value = None if first is None or second is None else first - second
        if value is None:
            caveat: Caveat | None = Caveat("needs weights", NOT_SCORED.format("InternVideo"))
        elif tiny:
            caveat = Caveat("tiny model", TINY.format("InternVideo"))
        else:
            caveat = PEOPLE if high == human else other.get(dataset)
        yield compare(CLAIMS, row, dataset, paper, value, digits=1, why=SCORED, caveat=caveat)


def rank_notes() -> Iterator[str]:
    """Yield what the printed ranks say of the column R@2: which rows it probably does not fit, and which R@3 cannot."""
    complete = {row_name(row): [values for values in row.printed.values() if None not in values[1:]] for row in TABLE_1}
    rows = {name: values for name, values in complete.items() if values}
    worse = [name for name, values in rows.items() if min(map(beyond, values)) > CHANCE_MEAN]
    not_three = [
        name
        for name, values in rows.items()
        if all(least_with_three(printed) > (printed[3] or 0.0) for printed in values)
    ]
    yield (
        "Feint6K, Table 1 has a column R@2. The authors' project page prints the same numbers under R@3, and their "
        f"script computes R@3. If they are R@2, all other clips of these rows have a mean rank above {CHANCE_MEAN}, "
        f"which is worse than chance among ranks 3 to 6, so they are probably R@3: {'; '.join(worse)}. These rows are "
        f"hardly R@3, because their mean rank is too low for it: {'; '.join(not_three)}."
    )


def least_with_three(values: tuple[float | None, ...]) -> float:
    """Return the least mean rank if the printed R@2 is R@3: no clip at rank 3, and all others at rank 4."""
    first, three = (float(value or 0.0) / 100 for value in values[1:3])
    return first + 2 * (three - first) + 4 * (1 - three)


def beyond(values: tuple[float | None, ...]) -> float:
    """Return the mean rank of the clips that are not among the first two, from R@1, R@2 (percent) and the mean rank."""
    first, two, mean = (float(value or 0.0) for value in values[1:])
    share_first, share_two = first / 100, two / 100
    return (mean - share_first - 2 * (share_two - share_first)) / (1 - share_two)
