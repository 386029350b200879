"""Say what the foils of a frozen record change: the action, an object, or what their method or file says."""

from collections.abc import Collection, Mapping
from typing import Any

from foilworks.core.corpus.models import Release, Subtest
from foilworks.core.corpus.release_records import facts_of_kept_foils

ACTION, OBJECT = "action", "object"
# Methods that change one kind of word.
OF_METHOD = {"object_swap": OBJECT}
# A blank of mask filling has the form of its word: a Penn tag of a verb, or one of these.
NOUN_FORMS = ("NN", "NNS")


def subtests_of_action(release: Release) -> set[str]:
    """Return the names of the subtests whose foils change the action only."""
    rows = Subtest.objects.filter(project=release.project_id, changes=Subtest.Changes.ACTION)
    return set(rows.values_list("name", flat=True))


def edited_kinds(record: Mapping[str, Any], of_action: Collection[str]) -> list[str]:
    """Return what each foil changes: as its subtest says (`of_action`), else its facts, else its method."""
    if record["subtest"] in of_action:
        return [ACTION] * len(record["foils"])
    provenance = record["provenance"]
    own = facts_of_kept_foils(record)
    if "edited" not in own or any(
        foil_provenance and "edited" in foil_provenance["facts"] for foil_provenance in provenance
    ):
        return [_edited(foil_provenance, record) for foil_provenance in provenance]
    edited = own["edited"]
    kinds = edited if isinstance(edited, list) else [edited] * len(record["foils"])
    return [kind if isinstance(kind, str) else "" for kind in kinds]


def _edited(provenance: Mapping[str, Any] | None, record: Mapping[str, Any]) -> str:
    if provenance is None:
        return str(record["extra"].get("edited") or record["subtest"])
    facts, method = provenance["facts"], str(provenance["method"])
    if "edited" not in facts and method == "mask_fill" and facts.get("form"):
        return OBJECT if facts["form"] in NOUN_FORMS else ACTION
    return str(facts.get("edited") or OF_METHOD.get(method, method))
