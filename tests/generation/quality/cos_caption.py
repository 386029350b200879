"""Captions of change of state on ViLMA's source sentences, equal to the authors' caption apart from articles.

A caption maker, not a method of foils: the captions are the results, and they have no judgements.
"""

from collections.abc import Iterator, Mapping

from generation.captioning import cos_caption
from generation.records import MadeCaption
from tests.generation.quality import Item, Result, Sample, captions_of, in_halves, without_articles

METHOD, RECIPE, FILES = "cos_caption", "vilma-state-action", ("change-state-action*.json",)
USES_TAGGER = True


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Make a caption of every source sentence, and compare with the authors' caption."""
    sources = captions_of(items, "original_sentence")
    params = {"template": "action", "tagger": tagger}
    results = []
    made = cos_caption.make(sources, params=params, mode="corrected", seed=0)
    for item, one in zip(items.values(), made, strict=True):
        text = one.text if isinstance(one, MadeCaption) else ""
        equal = bool(text) and without_articles(text) == without_articles(item["caption"])
        why = "" if isinstance(one, MadeCaption) else one.why
        results.append(Result(item["original_sentence"], bool(text), equal, why=why))
    yield from in_halves(Sample(results), [source.text for source in sources])
