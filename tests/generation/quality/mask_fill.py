"""Action replacement on ViLMA's file: the blank of each caption, and the verb that the authors masked.

The blank does not depend on the model, so that no model is needed; foils are not judged.
"""

from collections.abc import Iterator, Mapping

from foilworks.core.text.language.tools import tagger as find_tagger
from generation.grammar.blanks import spots
from tests.generation.quality import Item, Result, Sample

METHOD, RECIPE, FILES = "mask_fill", "vilma-action-replacement", ("action-replacement*.json",)
USES_TAGGER = True
NO_VERB = "it has no verb that can be replaced"


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Find the blank of every caption, and compare with the authors' masked verb."""
    tags, results = find_tagger(tagger), []
    for item in items.values():
        spot = next(iter(spots(tags.tag(item["caption"]), "verb", "main")), None)
        equal = spot is not None and spot.word == item["foils_info"]["mask_target"].lower()
        results.append(Result(item["caption"], spot is not None, equal, why="" if spot else NO_VERB))
    yield Sample(results, "blank only")
