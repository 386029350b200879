"""Name the probes of a release's gate, and put people without the clip beside them."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from evaluation.blind.people import accuracy, choices_of_release
from foilworks.core.corpus.models import Release

PEOPLE = "people"
# Three are of gates before 0.4.
PROBES = {
    "solver": _("solver"),
    PEOPLE: _("people without the clip"),
    "classifier": _("word classifier"),
    "longer": _("always the longer text"),
    "shorter": _("always the shorter text"),
}


def named_probes(row: Mapping[str, Any], people: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a row of the gate with labels for its probes. `people`: the row of `accuracy` of the subtest.

    People stop no release: their choices are made after it was frozen.
    """
    probes = [*row["probes"], *([{**people, "probe": PEOPLE, "over": False}] if people else [])]
    return {**row, "probes": [{**probe, "words": PROBES.get(probe["probe"], probe["probe"])} for probe in probes]}


def with_people(release: Release, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the release's gate with labelled probes and the choices that people made until now."""
    people = accuracy(choices_of_release(release))
    return [named_probes(row, people.get(row["name"])) for row in rows]
