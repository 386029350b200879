"""A release for double-blind review: the content that models are tested on, without anything that people wrote about
themselves. Authors, contact, addresses, free text and names of files are left out; ids are numbers.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.corpus.records import ReleaseContent, ReleaseVote
from foilworks.core.corpus.release_documents import Citation, ReleaseDocuments, SourceTerms
from foilworks.core.corpus.release_records import canary_of, hash_of
from foilworks.core.corpus.vote_records import is_anonymous_vote

PROJECT, RELEASE, TITLE = "anonymous-benchmark", "under-review", "Anonymous benchmark"
REMOVED = "[removed]"
_FORM_OF_ID = "{what}-{number:05d}"
# Mail addresses, and folders of a person on Linux, macOS and Windows.
PERSONAL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?:/home/|/Users/|/root/|/mnt/|/data/|~/|[A-Za-z]:\\+Users\\+|file://)[^\s\"',;|)\]}]*"
)
# Facts of the release that are numbers or dates.
KNOWN = ("made_at", "n_warned", "consent_version", "n_agreed", "n_workers")
TABLES = ("validation", "pay", "divergence")
_PROVENANCE = ("method", "method_version", "mode", "filters")


def anonymised(release: ReleaseContent) -> ReleaseContent:
    """Return the released items without a trace of the people behind them. Its content hash is that of the new items.

    Captions, foils and names of subtests are unchanged: they are the benchmark.
    """
    records = sorted((item for item in release.items if item.get("released")), key=lambda item: item["id"])
    public_sources = _public_sources(release.papers.sources)
    sources = _renamed(release.papers.sources, public_sources)
    videos = {key: _numbered("video", n) for n, key in enumerate(_videos(records), 1)}
    items = tuple(_item(record, n, videos, sources) for n, record in enumerate(records, 1))
    own_hash = hash_of(items)
    return ReleaseContent(
        project=PROJECT,
        release=RELEASE,
        content_hash=own_hash,
        created_at=f"{release.created_at[:10]}T00:00:00+00:00",
        items=items,
        votes=tuple(_votes(release.votes, records, items)),
        tables={name: without_addresses(release.tables[name]) for name in TABLES if name in release.tables},
        simulated=release.simulated,
        gate=without_addresses({**release.gate, "override": None}) if release.gate else None,
        withheld=tuple(_tombstone(withheld_item, n) for n, withheld_item in enumerate(release.withheld, 1)),
        papers=_documents(release, sources),
        # A mark of its own, and no hash over all items: both would name the release.
        canary=canary_of(own_hash),
        holdback={"items": release.holdback["items"]} if release.holdback else {},
    )


def _documents(release: ReleaseContent, sources: Mapping[str, str]) -> ReleaseDocuments:
    """Keep the licences that have a known name, and numbers; no answers, because people wrote them."""
    cited = release.papers.citation
    licence = known_licence(cited.licence, cited.licence_url)
    own = Citation(title=TITLE, licence=licence.hub if licence else "", licence_url=licence.url if licence else "")
    return ReleaseDocuments(
        citation=own,
        sources=tuple(_terms(source, sources) for source in release.papers.sources),
        known={name: release.papers.known[name] for name in KNOWN if name in release.papers.known},
        changes=_changes(release.papers.changes),
    )


def _terms(source: SourceTerms, names: Mapping[str, str]) -> SourceTerms:
    licence = known_licence(source.licence)
    stated = licence.hub if licence else REMOVED if source.licence else ""
    return replace(source, dataset=names[source.dataset], licence=stated, url="", notes="", may_show=False)


def _public_sources(sources: Sequence[SourceTerms]) -> set[str]:
    """Return the data sets with stated terms: those are published, and their ids are the pointers of the items."""
    stated = {source.dataset for source in sources if source.licence or source.url}
    return {name for name in stated if name and not PERSONAL.search(name)}


def _renamed(sources: Sequence[SourceTerms], public: set[str]) -> dict[str, str]:
    """Return {data set: its name in the copy}."""
    unpublished_sources = [source.dataset for source in sources if source.dataset and source.dataset not in public]
    numbered = {name: _numbered("source", n) for n, name in enumerate(sorted(unpublished_sources), 1)}
    return {"": "", **{name: name for name in public}, **numbered}


def _videos(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(record["video"]["key"] for record in records))


def _item(
    record: Mapping[str, Any], number: int, videos: Mapping[str, str], sources: Mapping[str, str]
) -> dict[str, Any]:
    name = _numbered("item", number)
    pair = record["proficiency"]
    return {
        **record,
        "id": name,
        "video": _video(record["video"], videos, sources),
        "proficiency": pair and {**pair, "id": f"{name}/proficiency", "extra": {}, "votes": pair.get("votes")},
        "facts": {},
        "extra": {},
        "provenance": [provenance and _provenance(provenance) for provenance in record["provenance"]],
    }


def _video(video: Mapping[str, Any], videos: Mapping[str, str], sources: Mapping[str, str]) -> dict[str, Any]:
    """Keep the id in a published data set; a file's name, address and hash point to whoever has the file."""
    dataset = video["source_dataset"]
    is_public = bool(dataset) and sources.get(dataset) == dataset
    return {
        **{name: value for name, value in video.items() if name != "sha256"},
        "key": videos[video["key"]],
        "file": "",
        "url": "",
        "source_dataset": sources.get(dataset, ""),
        "source_id": video["source_id"] if is_public and not PERSONAL.search(video["source_id"]) else "",
    }


def _provenance(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what made a foil, and whether a person did; not who, and not where a model's folder is."""
    parent = provenance.get("parent")
    return {
        **{name: provenance[name] for name in _PROVENANCE if name in provenance},
        "model_id": model_name(provenance.get("model_id") or ""),
        "author": "a person" if provenance.get("author") else None,
        "parent": parent and {"method": parent["method"]},
    }


def model_name(model: str) -> str:
    """Return the model's name, not the folder in which somebody keeps it."""
    return "a local model" if PERSONAL.search(model) or model.startswith((".", "/")) else model


def _votes(
    votes: Iterable[ReleaseVote], records: Sequence[Mapping[str, Any]], items: Sequence[Mapping[str, Any]]
) -> list[ReleaseVote]:
    names: dict[str, str] = {}
    for old, new in zip(records, items, strict=True):
        names[old["id"]] = new["id"]
        if old["proficiency"]:
            names[old["proficiency"]["id"]] = new["proficiency"]["id"]
    released_votes = [vote for vote in votes if vote.item in names]
    people = sorted({vote.annotator for vote in released_votes if not is_anonymous_vote(vote.source, vote.annotator)})
    numbers = {name: _numbered("annotator", n) for n, name in enumerate(people, 1)}
    return [
        replace(vote, item=names[vote.item], annotator=numbers.get(vote.annotator, vote.annotator), watch={})
        for vote in released_votes
    ]


def _tombstone(withheld_item: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {"id": _numbered("withheld", number), "taken_down_at": withheld_item["taken_down_at"], "reason": ""}


def _changes(changes: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Keep how many items changed since the release before; ids are left out."""
    if changes is None:
        return None
    counts = {name: [""] * len(changes[name]) for name in ("added", "removed")}
    changed = [{"id": "", "fields": row["fields"]} for row in changes["changed"]]
    before = {"name": "an earlier release", "content_hash": ""}
    return {"before": before, **counts, "changed": changed, "n_same": changes["n_same"]}


def without_addresses(value: Any) -> Any:
    """Return the value without mail addresses and folders of people in its texts."""
    return _map_texts(value, lambda text: PERSONAL.sub(REMOVED, text))


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(name)): _map_texts(child, change) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_map_texts(child, change) for child in value]
    return value


def _numbered(what: str, number: int) -> str:
    return _FORM_OF_ID.format(what=what, number=number)
