import gc
from dataclasses import replace

from hypothesis import given

from foilworks.core.corpus.records import ItemRecord, PairRecord, ReleaseVote, StoredRecords, VideoRecord, VoteCounts
from foilworks.core.corpus.release_records import (
    content_of,
    facts_of_kept_foils,
    foil_counts,
    hash_of,
    item_record,
    release_id,
    release_record,
    vote_counts,
)
from foilworks.core.corpus.rules.hard_foils import REMOVED, STATED, HardFoil, candidates_of, hard_foils
from tests.corpus.releases import items, votes_of

ITEM = ItemRecord(
    id="s:a",
    subtest="s",
    video=VideoRecord(key="v"),
    caption="x",
    foils=("y", "z"),
    proficiency=PairRecord("p", ("q",)),
)


def test_views_of_stored_records_read_the_file_of_the_first():
    numbers = StoredRecords([30, 1, 2])
    view = numbers.where(lambda number: number > 1).in_order(int).each(str)
    del numbers
    gc.collect()
    assert (list(view), len(view), list(view.at([1]))) == (["2", "30"], 2, ["30"])


@given(items)
def test_a_record_thaws_to_the_item_that_was_frozen(item):
    record = release_record(item)
    votes = votes_of(item.id, item.subtest, item.votes)
    if item.proficiency:
        votes += votes_of(record["proficiency"]["id"], item.subtest, item.proficiency.votes)
    assert item_record(record, vote_counts(votes, foil_counts([record]))) == item


def test_ids_are_unique_over_subtests():
    assert release_id("relations", "0") == "relations:0"
    assert release_id("relations", "relations:0") == "relations:0"


def test_the_status_is_not_part_of_the_content():
    record = release_record(ITEM)
    status = {"released": True, "state": "valid", "found_valid": True, "unanimous": True}
    status |= {"verdicts": [], "votes": {"caption": 3}}
    pair = {**record["proficiency"], "votes": {"caption": 1}}
    assert content_of({**record, **status, "proficiency": pair}) == record
    assert hash_of([{**record, **status}]) == hash_of([record])
    assert hash_of([{**record, "caption": "X"}]) != hash_of([record])


def test_votes_name_the_place_of_a_foil_that_stayed():
    record = release_record(ItemRecord(**{**ITEM.__dict__, "foils": ("z",)}), positions=[1])
    assert (record["foils"], record["foil_positions"]) == (["z"], [1])


def test_per_foil_facts_come_back_for_the_remaining_foils():
    facts = {"edited": ["verb", "object"], "swapped_frequency": [9, 5], "objects": ["cup", "ball"]}
    record = release_record(replace(ITEM, foils=("z",), facts=facts), positions=[1])
    assert record["facts"] == facts
    written = item_record(record)
    assert written.facts == {"edited": ["object"], "swapped_frequency": [5], "objects": ["cup", "ball"]}
    # What reads the export freezes the item as it stands there.
    assert facts_of_kept_foils(release_record(written)) == facts_of_kept_foils(record)


def test_the_hard_foil_and_the_roles_follow_the_remaining_foils():
    facts = {"roles": ["random", "random", "hard"], "hard_foil": 2}
    left = release_record(replace(ITEM, foils=("y", "z"), facts=facts), positions=[1, 2])
    assert item_record(left).facts == {"roles": ["random", "hard"], "hard_foil": 1}
    without = item_record(release_record(replace(ITEM, foils=("x", "y"), facts=facts), positions=[0, 1]))
    assert without.facts == {"roles": ["random", "random"], "hard_foil": -1}
    assert hard_foils([candidates_of(release_record(without))]) == [HardFoil(REMOVED, STATED)]


def test_only_counted_validation_votes_count():
    votes = [
        ReleaseVote("a", 0, "p1", "caption", "s"),
        ReleaseVote("a", 0, "p2", "both", "s"),
        ReleaseVote("a", 0, "p3", "foil", "s", state="set_aside"),
        ReleaseVote("a", 0, "p4", "foil", "s", stage="baseline"),
    ]
    assert vote_counts(votes, {"a": 1}) == {"a": VoteCounts(1, 0, 1)}


def test_votes_on_one_foil_of_several_are_not_counts_of_the_item():
    record = release_record(ITEM, proficiency_positions=[1])
    n_foils = foil_counts([record, {**record, "id": "s:b", "foils": ["y"], "verdicts": [{}, {}, {}]}])
    assert n_foils == {"s:a": 2, "s:b": 3, "s:a/proficiency": 2}
    on_one = [ReleaseVote("s:a", 0, f"p{n}", "caption", "s") for n in range(3)]
    on_all = [replace(vote, foil=None) for vote in on_one]
    assert (vote_counts(on_one, n_foils), vote_counts(on_one, None)) == ({}, {"s:a": VoteCounts(3, 0, 0)})
    assert vote_counts(on_all, n_foils) == {"s:a": VoteCounts(3, 0, 0)}
