"""Existence on ViLMA's rare actions: foils of the proficiency captions ("there is at least one …")."""

from collections.abc import Iterator, Mapping

from tests.generation.quality import Item, Sample, captions_of, foils_of

METHOD, RECIPE, FILES = "existence", "vilma-rare-existence", ("rare-actions*.json",)
USES_TAGGER = False


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Replace the thing of every proficiency caption; no detector has seen the videos."""
    del tagger
    asked = {at: {**item["proficiency"], "video": item["youtube_id"]} for at, item in items.items()}
    authors = [item["foils"] for item in asked.values()]
    yield Sample(foils_of(METHOD, captions_of(asked, video="video"), authors), "without a detector")
