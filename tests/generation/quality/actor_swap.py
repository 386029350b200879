"""Actor swap on ViLMA's file: a foil per caption, and the swap that people wrote, apart from articles."""

from collections.abc import Sequence

from generation.methods import actor_swap
from generation.records import FoilDraft
from tests.generation.quality import Item, Row, made_by, without_articles

METHOD, RECIPE, FILES = "actor_swap", "vilma-actor-swap", "actor-swap*.json"


def measure(items: Sequence[Item], tagger: str) -> Row:
    """Swap every caption, and compare with the swaps of the authors."""
    row = Row(captions=len(items))
    for item, made in zip(items, made_by(actor_swap, [item["caption"] for item in items], tagger=tagger), strict=True):
        if not isinstance(made, FoilDraft):
            row.refused[made.why] += 1
            continue
        row.made += 1
        row.equal += without_articles(made.foil) in [without_articles(foil) for foil in item["foils"]]
        row.foils.append((item["caption"], made.foil))
    return row
