"""Releases of plain records, as exporters get them, and records with anything in their texts."""

from hypothesis import strategies as st

from foilworks.core.corpus.import_formats.parsing.warnings import repeats_caption
from foilworks.core.corpus.records import ItemRecord, PairRecord, ReleaseContent, ReleaseVote, VideoRecord, VoteCounts
from foilworks.core.corpus.release_records import hash_of, release_record


def votes_of(item_id, subtest, counts, kind="main"):
    """The judgements behind the counts, none where there are none."""
    if counts is None:
        return []
    choices = ["caption"] * counts.caption + ["foil"] * counts.foil + ["other"] * counts.other
    return [
        ReleaseVote(item_id, None, f"unnamed-{i + 1}", choice, subtest, kind=kind, source="import")
        for i, choice in enumerate(choices)
    ]


def release_of(items, name="r1", **fields):
    """A release of these records, as if they had been imported, voted on and frozen."""
    records, votes = [], []
    for item in items:
        record = release_record(item)
        records.append({**record, "released": True, "state": "valid"})
        votes += votes_of(item.id, item.subtest, item.votes)
        if item.proficiency is not None:
            votes += votes_of(record["proficiency"]["id"], item.subtest, item.proficiency.votes, "proficiency")
    return ReleaseContent(
        project="p",
        release=name,
        content_hash=hash_of(records),
        created_at="2024-01-01T00:00:00+00:00",
        items=tuple(records),
        votes=tuple(votes),
        **fields,
    )


# Anything a database and a JSON file can hold: markup, formulas, right-to-left marks, combining characters, emoji.
hostile = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "=1+1",
        "\u202eabc",
        "e\u0301\u0301",
        "👩‍👩‍👧",
        "a\u2028b\nc",
        "{}",
        "null",
        "foilworks",
    ]
)
sentences = hostile.filter(str.strip)
labels = hostile
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | hostile,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(hostile, inner, max_size=2),
    max_leaves=4,
)
# Names that mean something to one format or another must survive as extra fields too.
names = hostile | st.sampled_from(
    [
        "caption",
        "foil",
        "foils",
        "mturk",
        "human",
        "votes",
        "proficiency",
        "foilworks",
        "subtest",
        "test",
        "id",
        "class",
    ]
)
extras = st.dictionaries(names, values, max_size=3)
counts = st.none() | st.builds(VoteCounts, st.integers(0, 2), st.integers(0, 2), st.integers(1, 2))
times = st.none() | st.floats(0, 1e6) | st.integers(0, 10**6).map(float)


@st.composite
def videos(draw):
    start, end = draw(times), draw(times)
    if end is not None and end <= (start or 0.0):
        end = None
    return VideoRecord(
        key=draw(sentences),
        file=draw(st.sampled_from(["", "a.mp4", "b/c d.webm", "…/é.mp4"])),
        url=draw(st.sampled_from(["", "https://example.org/a.mp4?x=1&y=<b>"])),
        source_dataset=draw(labels),
        source_id=draw(labels),
        start_time=start,
        end_time=end,
        time_unit=draw(st.sampled_from(["sec", "pts", "frames"])),
        split=draw(st.sampled_from(["", "train", "val", "test"])),
        class_label=draw(labels),
        category=draw(labels),
        movie=draw(labels),
    )


foils = st.lists(sentences, min_size=1, max_size=3).map(tuple)


def is_readable(pair: ItemRecord | PairRecord) -> bool:
    """Tell whether an import takes it: a foil that repeats its caption is refused, unless people judged it."""
    return pair.votes is not None or not repeats_caption(pair)


pairs = st.builds(PairRecord, caption=sentences, foils=foils, votes=counts, extra=extras).filter(is_readable)
items = st.builds(
    ItemRecord,
    id=sentences,
    subtest=sentences,
    test=labels,
    video=videos(),
    caption=sentences,
    foils=foils,
    proficiency=st.none() | pairs,
    votes=counts,
    extra=extras,
    facts=st.dictionaries(hostile, values, max_size=2),
    pair=labels,
).filter(is_readable)
item_lists = st.lists(items, min_size=1, max_size=4, unique_by=lambda item: item.id)
