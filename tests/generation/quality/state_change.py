"""Change of state on ViLMA's file: foils of the authors' captions, equal to the authors' foil apart from articles."""

from collections.abc import Iterator, Mapping

from tests.generation.quality import Item, Sample, captions_of, foils_of, in_halves

METHOD, RECIPE, FILES = "state_change", "vilma-state-action", ("change-state-action*.json",)
USES_TAGGER = True


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Change the state in every caption; captions of the same source sentence are in the same half."""
    authors = [item["foils"] for item in items.values()]
    results = foils_of(METHOD, captions_of(items), authors, subtest="action", tagger=tagger)
    yield from in_halves(Sample(results), [item["original_sentence"] for item in items.values()])
