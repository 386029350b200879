"""Load the foils of a project with their authors, generated or imported, as the report of verbs takes them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.analyses.analysis_inputs import MACHINE, PERSON, SOURCES, EditFacts
from foilworks.core.corpus.models import Foil, Item, Subtest, withdrawn_items
from foilworks.core.corpus.rules.hard_foils import Candidates, hard_foils
from foilworks.core.projects.models import Project
from foilworks.core.text.batches import batched
from generation.choices.compose import COMPOSED
from generation.models import Candidate

# Methods of foils that people write.
BY_PEOPLE = frozenset({"person"})
ROWS_PER_QUERY = 500


def edit_facts(project: Project, subtest: Subtest | None = None) -> list[EditFacts]:
    """Return the generated foils that are part of an item, then the imported ones: of an item with a hard foil, only
    that. Two queries, and two for each 500 imported items.

    An imported foil, and that of a composed item, has the author that the fact `made_by` of its item gives (machine or
    person), else none. The hard foil of a composed item is left out if the foil it repeats is there.
    """
    edits = _generated(project, subtest)
    imported = _imported(project, subtest)
    edits += [edit for edit, composed in imported if not composed]
    generated_keys = {(edit.caption, edit.foil, edit.source) for edit in edits}
    return edits + [
        edit for edit, composed in imported if composed and (edit.caption, edit.foil, edit.source) not in generated_keys
    ]


def _generated(project: Project, subtest: Subtest | None) -> list[EditFacts]:
    rows = Candidate.objects.filter(group__run__project=project, foil__isnull=False).order_by("pk")
    if subtest:
        rows = rows.filter(foil__item__subtest=subtest)
    fields = ("group__caption__text", "text", "method", "author_id", "foil__item__subtest__name")
    # Of a composed item that came back from editing, the random captions are candidates too.
    hard = ("foil__position", "foil__item__facts__hard_foil")
    return [
        EditFacts(caption, foil, PERSON if method in BY_PEOPLE or author is not None else MACHINE, subtest=name)
        for caption, foil, method, author, name, position, marked in rows.values_list(*fields, *hard)
        if marked is None or marked == position
    ]


def _imported(project: Project, subtest: Subtest | None) -> list[tuple[EditFacts, bool]]:
    """Return the foils without a candidate, each with whether its item is composed."""
    rows = Item.objects.filter(foils__candidate__isnull=True, foils__isnull=False).exclude(withdrawn_items())
    scope_filter = (
        {"subtest": subtest} if subtest else {"subtest__project": project, "subtest__kind": Subtest.Kind.MAIN}
    )
    items = rows.filter(**scope_filter).distinct().order_by("pk")
    read = [
        item for keys in batched(items.values_list("pk", flat=True).iterator(), ROWS_PER_QUERY) for item in _read(keys)
    ]
    edits = []
    for candidates, hard in zip(read, hard_foils(read), strict=True):
        source = author(candidates.facts)
        counted_foils = candidates.foils if hard is None else candidates.foils[max(hard.index, 0) : hard.index + 1]
        composed = COMPOSED in candidates.facts
        # Random captions are nobody's edits.
        counted_foils = () if composed and hard is None else counted_foils
        edits += [
            (EditFacts(candidates.caption, foil, source, subtest=candidates.subtest), composed)
            for foil in counted_foils
        ]
    return edits


def _read(keys: Sequence[int]) -> Iterator[Candidates]:
    """Yield the items of these keys with their foils that have no candidate. Two queries, and no rows as objects."""
    foils = defaultdict[int, list[tuple[str, int]]](list)
    imported = Foil.objects.filter(item__in=keys, candidate__isnull=True).order_by("position")
    for pk, text, position in imported.values_list("item", "text", "position"):
        foils[pk].append((text, position))
    items = Item.objects.filter(pk__in=keys).order_by("pk").select_related("caption", "subtest")
    for item in items:
        texts, positions = zip(*foils[item.pk], strict=True)
        yield Candidates(item.subtest.name, item.caption.text, texts, item.extra, item.known_facts, positions)


def author(facts: Mapping[str, Any]) -> str:
    """Return machine or person as the fact `made_by` says; "" if it is unknown."""
    made_by = facts.get("made_by")
    return str(made_by) if made_by in SOURCES else ""
