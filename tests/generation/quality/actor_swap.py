"""Actor swap on ViLMA's file: a foil per caption, and the swap that people wrote, apart from articles."""

from collections.abc import Iterator, Mapping

from tests.generation.quality import Item, Sample, captions_of, foils_of

METHOD, RECIPE, FILES = "actor_swap", "vilma-actor-swap", ("actor-swap*.json",)
USES_TAGGER = True


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Swap every caption, and compare with the swaps of the authors."""
    authors = [item["foils"] for item in items.values()]
    yield Sample(foils_of(METHOD, captions_of(items), authors, tagger=tagger))
