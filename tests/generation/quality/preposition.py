"""Preposition replacement without a model, on ViLMA's spatial relations and on captions of other sources.

Several foils per caption are allowed: the authors' choice counts as equal if any of them is theirs.
"""

from collections.abc import Iterator, Mapping

from tests.generation.quality import Item, Sample, captions_of, foils_of, in_halves

METHOD, RECIPE, FILES = "preposition", "vilma-spatial-unranked", ("relations.json", "msrvtt_human.tsv")
USES_TAGGER = False


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Replace the prepositions of every caption; ViLMA's captions are in two halves."""
    del tagger
    authors = [item["foils"] for item in items.values() if "foils" in item]
    captions = captions_of(items, video="dataset_idx" if authors else "clip")
    sample = Sample(foils_of(METHOD, captions, authors))
    if authors:
        yield from in_halves(sample, [caption.text for caption in captions])
    else:
        yield sample
