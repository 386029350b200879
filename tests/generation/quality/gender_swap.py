"""Gender swap on captions of MSR-VTT. The authors of the paper have published no foils of these captions."""

from collections.abc import Iterator, Mapping

from tests.generation.quality import Item, Sample, captions_of, foils_of

METHOD, RECIPE, FILES = "gender_swap", "contrast-gender", ("msrvtt_human.tsv",)
USES_TAGGER = True


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Swap the gender in every caption that names one."""
    yield Sample(foils_of(METHOD, captions_of(items, video="clip"), tagger=tagger))
