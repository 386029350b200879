"""Load stored rows as the facts that analyses compute on, in a number of queries that does not depend on the size."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Case, CharField, Count, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Concat

from annotation.models import Choice, Stage, Vote, VoteState
from annotation.rules.voting import item_outcome, rule_in_force
from evaluation.analyses.analysis_inputs import (
    CHOICES,
    NOBODY,
    OTHER,
    ItemFacts,
    ProficiencyFacts,
    Votes,
    with_hard_foils,
)
from evaluation.facts.comparable_votes import COLUMNS, ComparedVotes, is_adaptive
from foilworks.core.corpus.models import Foil, Item, Subtest, withdrawn_items
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.rules.hard_foils import Candidates
from foilworks.core.corpus.rules.states import ItemState, drops_out, is_left_out
from foilworks.core.corpus.vote_records import ANONYMOUS_NAME
from foilworks.core.projects.models import Project

DECIDED = {ItemState.VALID: True, ItemState.INVALID: False, ItemState.DISPUTED: False}


@dataclass(frozen=True)
class _Foil:
    pk: int
    text: str
    verdict: str


def counted_votes(project: Project, subtest: Subtest | None = None) -> QuerySet[Vote]:
    """Return the counted votes of validators on main items of the project, or on one subtest of any kind.

    Votes on retracted items are left out; a requeued item remains as the record of its votes.
    """
    counted = Vote.objects.filter(stage=Stage.VALIDATION, state=VoteState.COUNTED)
    rows = counted.exclude(withdrawn_items("item__"))
    if subtest is not None:
        return rows.filter(item__subtest=subtest)
    return rows.filter(item__subtest__project=project, item__subtest__kind=Subtest.Kind.MAIN)


def item_facts(project: Project, subtest: Subtest | None = None) -> list[ItemFacts]:
    """Return main items of the project, or the items of one subtest, in the order of subtests and keys.

    Items of `taken_out` are left out. `valid` is None for an item that waits for votes, or that was requeued before it
    was rejected. Three queries; a fourth one if votes stop early.
    """
    rows = Item.objects.exclude(withdrawn_items()).select_related(
        "subtest", "caption__video", "proficiency_item", "proficiency_item__caption"
    )
    scoped_rows = (
        rows.filter(subtest=subtest)
        if subtest
        else rows.filter(subtest__project=project, subtest__kind=Subtest.Kind.MAIN)
    )
    items = list(scoped_rows.order_by("subtest__name", "key"))
    foils = _foils(project)
    votes = counted_votes(project, subtest)
    tallies, compared = _tallies(votes), _compared_tallies(votes, items)
    facts = [_facts(item, foils, tallies.get(item.pk, {}), _of_item(compared, item.pk)) for item in items]
    read = [
        Candidates(fact.subtest, fact.caption, fact.foils, item.extra, item.known_facts)
        for item, fact in zip(items, facts, strict=True)
    ]
    return with_hard_foils(facts, read)


def is_valid(item: Item) -> bool | None:
    """Report whether its validators found the item valid, or it was imported as published; None: neither."""
    return True if item.is_on_publishers_word else DECIDED.get(ItemState(item.state))


def found_valid(item: Item, verdicts: Collection[str]) -> bool | None:
    """Report the same, and False for a requeued item that validators had rejected. Load the item with its subtest.

    A requeued item was rejected if its pairs make it invalid: with a corrected caption, items of any state are
    requeued.
    """
    if item.state == ItemState.REQUEUED:
        refused = item_outcome(verdicts, rule_in_force(item.subtest)) == ItemState.INVALID
        return False if refused else None
    return is_valid(item)


def requeued_as_invalid(project: Project) -> dict[int, int]:
    """Return the requeued items that validators had rejected, item id -> subtest id. One query."""
    requeued = Foil.objects.filter(item__subtest__project=project, item__state=ItemState.REQUEUED)
    requeued = requeued.exclude(withdrawn_items("item__"))
    verdicts_by_item: dict[Item, list[str]] = defaultdict(list)
    for foil in requeued.select_related("item__subtest"):
        verdicts_by_item[foil.item].append(foil.verdict)
    return {
        item.pk: item.subtest_id for item, verdicts in verdicts_by_item.items() if found_valid(item, verdicts) is False
    }


def _foils(project: Project) -> dict[int, list[_Foil]]:
    """Return the foils of every item of the project: proficiency items may be in any subtest."""
    foils_by_item: dict[int, list[_Foil]] = defaultdict(list)
    rows = Foil.objects.filter(item__subtest__project=project).order_by("item_id", "position")
    for item, pk, text, verdict in rows.values_list("item_id", "pk", "text", "verdict"):
        foils_by_item[item].append(_Foil(pk, text, verdict))
    return foils_by_item


def _tallies(votes: QuerySet[Vote]) -> dict[int, dict[int | None, dict[str, int]]]:
    """Count choices by item, then by foil (None if votes name none)."""
    counts_by_item: dict[int, dict[int | None, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    rows = votes.order_by().values_list("item_id", "foil_id", "choice").annotate(n=Count("pk"))
    for item, foil, choice, n in rows:
        counts_by_item[item][foil][choice] = n
    return counts_by_item


def _compared_tallies(votes: QuerySet[Vote], items: Iterable[Item]) -> dict[int, dict[int | None, Counter[str]]] | None:
    """Count the votes that agreement is measured on, by item and foil; None if that is all votes."""
    subtests = {item.subtest_id: item.subtest for item in items}
    if not any(map(is_adaptive, subtests.values())):
        return None
    compared, counts_by_item = ComparedVotes(subtests), defaultdict[int, dict](lambda: defaultdict(Counter))
    rows = votes.order_by("pk").values_list("item", "choice", *COLUMNS)
    for item, choice, subtest, foil, slot, in_full in rows:
        if compared.counts(subtest, foil, slot, in_full):
            counts_by_item[item][foil][choice] += 1
    return counts_by_item


def _of_item(
    tallies: dict[int, dict[int | None, Counter[str]]] | None, item: int
) -> dict[int | None, Counter[str]] | None:
    return None if tallies is None else tallies.get(item, {})


def _facts(
    item: Item,
    foils: dict[int, list[_Foil]],
    tallies: dict[int | None, dict[str, int]],
    compared: dict[int | None, Counter[str]] | None = None,
) -> ItemFacts:
    own = foils.get(item.pk, [])
    on_word = item.is_on_publishers_word
    counted_foils = [foil for foil in own if on_word or not drops_out(foil.verdict, item.state)]
    counted_ids: set[int | None] = {None, *(foil.pk for foil in counted_foils)}
    counted = sorted(tallies.items(), key=_by_foil)
    simpler = item.proficiency_item
    valid = found_valid(item, [foil.verdict for foil in own])
    return ItemFacts(
        id=f"{item.subtest.name}:{item.key}",
        subtest=item.subtest.name,
        test=item.subtest.test or item.subtest.name,
        caption=item.caption.text,
        video=cluster(vars(item.caption.video)),
        foils=tuple(foil.text for foil in own),
        tallies=tuple(_tally(counts) for _, counts in counted),
        valid=valid,
        unanimous=valid and item.unanimous is True,
        proficiency=ProficiencyFacts(
            simpler.caption.text,
            tuple(foil.text for foil in foils.get(simpler.pk, []) if not is_left_out(foil.verdict, simpler.state)),
            is_valid(simpler),
        )
        if simpler
        else None,
        kept=tuple(foil.text for foil in counted_foils) if valid else None,
        kept_tallies=tuple(_tally(counts) for foil, counts in counted if foil in counted_ids) if valid else None,
        as_published=on_word,
        compared=None
        if compared is None
        else tuple((foil in counted_ids, _tally(counts)) for foil, counts in sorted(compared.items(), key=_by_foil)),
    )


def _by_foil(pair: tuple[int | None, Any]) -> int:
    return pair[0] or 0


def _tally(counts: Mapping[str, int]) -> tuple[int, ...]:
    """Return counts over CHOICES; over three if `other` of a file merges neither, both and cannot tell."""
    if Choice.OTHER not in counts:
        return tuple(counts.get(choice, 0) for choice in CHOICES)
    caption, foil = counts.get(Choice.CAPTION, 0), counts.get(Choice.FOIL, 0)
    return caption, foil, sum(counts.values()) - caption - foil


def vote_facts(project: Project, subtest: Subtest | None = None) -> Votes:
    """Return the counted votes, one row each, in the given order. Two queries; user names, for researchers only."""
    rows = (
        counted_votes(project, subtest)
        .order_by("pk")
        .values_list(
            "item_id",
            "item__subtest__name",
            "item__key",
            "foil_id",
            "foil__position",
            CODER,
            "choice",
            "caption_first",
            "guideline__version",
            "guideline__subtest__name",
            *COLUMNS,
        )
    )
    compared = ComparedVotes({row.pk: row for row in Subtest.objects.filter(project=project)})
    return votes_from_rows((*row[: -len(COLUMNS)], compared.counts(*row[-len(COLUMNS) :])) for row in rows)


# The voter: a user name, or the pseudonym of a file, which no user name can look like; NULL if a file names
# nobody, as the counts of older exports do.
CODER = Coalesce(
    "person__username",
    Case(
        When(
            ~Q(imported_as__regex=f"^({ANONYMOUS_NAME})$"),
            imported_as__gt="",
            then=Concat(Value("file:"), "imported_as"),
        ),
        output_field=CharField(),
    ),
)
VoteRow = tuple[int, str, str, int | None, int | None, str | None, str, bool | None, int | None, str | None, bool]


def votes_from_rows(rows: Iterable[VoteRow]) -> Votes:
    """Convert rows of the columns of vote_facts to arrays; counts of a file name nobody, its votes no guideline."""
    units: dict[tuple[int, int | None], int] = {}
    unit_names: list[str] = []
    people: dict[str, int] = {}
    items: list[int] = []
    guideline_codes: dict[str, int] = {}
    table = array("q")
    for item, subtest, key, foil, position, person, choice, first, version, told_for, is_compared in rows:
        unit = units.setdefault((item, foil), len(units))
        if unit == len(unit_names):
            items.append(item)
            unit_names.append(f"{subtest}:{key}" + ("" if position is None else f"/{position}"))
        annotator = NOBODY if person is None else people.setdefault(person, len(people))
        code = OTHER if choice == Choice.OTHER else CHOICES.index(choice)
        by = guideline_codes.setdefault(_guideline_name(version, told_for), len(guideline_codes))
        table.extend((unit, annotator, code, 0 if first is None else 1 if first else 2, by, is_compared))
    cells = np.array(table, dtype=np.int64).reshape(-1, 6)
    columns = (cells[:, at] for at in range(4))
    of_units = np.array(items, dtype=np.int64)
    compared = None if cells[:, 5].all() else cells[:, 5].astype(bool)
    return Votes(
        *columns,
        unit_names,
        list(people),
        of_units,
        guideline=cells[:, 4],
        guideline_names=list(guideline_codes),
        compared=compared,
    )


def _guideline_name(version: int | None, subtest: str | None) -> str:
    """Return "v2", "counting v1" for a subtest's own; "none" for votes without a version."""
    return "none" if version is None else f"{subtest} v{version}" if subtest else f"v{version}"
