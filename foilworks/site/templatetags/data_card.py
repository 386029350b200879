"""Template tags for the data card of a release: pages of lower rooms cannot import what it shows."""

from typing import Any

from django import template

from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_documents import Citation
from foilworks.site.documents.release_documents import citation_of
from foilworks.site.publishing.public import Example, cited_as, own_examples

register = template.Library()
# The formats that most people want; the others are folded.
COMMON_EXPORTS = ("foilworks", "jsonl", "csv", "hf")


@register.simple_tag
def export_formats() -> dict[str, Any]:
    """Return the formats of exports as (slug, row of the registry), common ones first."""
    more = [(slug, entry) for slug, entry in EXPORTERS.items() if slug not in COMMON_EXPORTS]
    return {"common": [(slug, EXPORTERS[slug]) for slug in COMMON_EXPORTS], "more": more}


@register.simple_tag
def citation_for(release: Release) -> Citation:
    """Return how the project of a release is cited. One query."""
    return citation_of(release.project)


@register.simple_tag
def bibtex_of(release: Release, citation: Citation) -> str:
    return cited_as(release, citation)


@register.simple_tag
def examples_for(release: Release) -> list[Example]:
    """Return a few items with their videos, for researchers of the project."""
    return own_examples(release)
