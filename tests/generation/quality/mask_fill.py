"""Action replacement on ViLMA's file: the blank of each caption, and the verb that the authors masked.

The blank does not depend on the model, so that no model is needed; foils are not judged.
"""

from collections.abc import Sequence

from generation.grammar.blanks import spots
from tests.generation.quality import Item, Row
from text.language.tools import tagger as find_tagger

METHOD, RECIPE, FILES = "mask_fill", "vilma-action-replacement", "action-replacement*.json"


def measure(items: Sequence[Item], tagger: str) -> Row:
    """Find the blank of every caption, and compare with the authors' masked verb."""
    row, tags = Row(captions=len(items)), find_tagger(tagger)
    for item in items:
        found = spots(tags.tag(item["caption"]), "verb", "main")
        if not found:
            row.refused["it has no verb that can be replaced"] += 1
            continue
        row.made += 1
        row.equal += found[0].word == item["foils_info"]["mask_target"].lower()
    return row
