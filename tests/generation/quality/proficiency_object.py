"""Proficiency items on ViLMA's spatial relations: the landmark of each caption, and the noun that the authors masked.

The landmark does not depend on the model, so that no model is needed; foils are not judged.
"""

from collections.abc import Iterator, Mapping

from foilworks.core.text.language.tools import tagger as find_tagger
from generation.grammar.landmarks import landmark
from generation.methods.proficiency_object import NO_LANDMARK
from tests.generation.quality import Item, Result, Sample, in_halves

METHOD, RECIPE, FILES = "proficiency_object", "vilma-proficiency-object", ("relations.json",)
USES_TAGGER = True


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Find the landmark of every caption, and compare with the authors' masked noun."""
    tags, results = find_tagger(tagger), []
    for item in items.values():
        spot = landmark(tags.tag(item["caption"]))
        equal = spot is not None and spot.word == item["proficiency"]["mask_target"].lower()
        results.append(Result(item["caption"], spot is not None, equal, why="" if spot else NO_LANDMARK))
    yield from in_halves(Sample(results, "blank only, target=landmark"), [result.caption for result in results])
