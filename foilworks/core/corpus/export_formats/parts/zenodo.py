"""Metadata of a DOI deposit: the form of Zenodo's deposit API, which its `.zenodo.json` shares."""

import html
from typing import Any

from foilworks.core.corpus.export_formats.parts.citation import NOBODY, doi_of, title_of
from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.corpus.records import ReleaseContent

KEYWORDS = ("benchmark", "video", "video-language", "foils", "contrast sets")
PARAGRAPH = "<p>{text}</p>"
FROZEN = "Release {release}, {n} items. SHA-256 of the content: {digest}."


def deposit_metadata(release: ReleaseContent) -> dict[str, Any]:
    """Return the metadata of a deposit; a field that nobody stated is left out."""
    cited = release.papers.citation
    licence = known_licence(cited.licence, cited.licence_url)
    n = sum(bool(item.get("released")) for item in release.items)
    frozen = FROZEN.format(release=release.release, n=n, digest=release.content_hash)
    said = [html.escape(text, quote=False) for text in (cited.abstract, frozen) if text]
    found: dict[str, Any] = {
        "title": title_of(release),
        "upload_type": "dataset",
        "description": "".join(PARAGRAPH.format(text=text) for text in said),
        # Zenodo refuses a deposit without a creator.
        "creators": [{"name": name} for name in cited.authors] or [{"name": NOBODY}],
        "access_right": "open",
        "publication_date": release.created_at[:10],
        "version": release.release,
        "keywords": list(KEYWORDS),
        "related_identifiers": [{"identifier": cited.url, "relation": "isDescribedBy"}] if cited.url else [],
        "license": licence.deposit if licence else "",
        "doi": doi_of(release),
    }
    return {name: value for name, value in found.items() if value}
