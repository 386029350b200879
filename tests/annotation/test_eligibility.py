"""The leakage rule, pure. Video 1 has the groups 10 and 11, video 2 has group 20."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.eligibility import PersonFacts, PriorInvolvement, Refusal, TaskFacts, why_not

HERE, SAME_VIDEO, ELSEWHERE = PriorInvolvement(1, 10), PriorInvolvement(1, 11), PriorInvolvement(2, 20)
NOBODY = PersonFacts(person=7)
EDIT = TaskFacts("edit", HERE)
REVIEW = TaskFacts("review", HERE, lineage=(103, 102, 101))
VALIDATION = TaskFacts("validation", HERE, item=500)
BASELINE = TaskFacts("baseline", HERE, item=500)
JUDGED_STAGES = [REVIEW, VALIDATION, BASELINE]
ALL = [EDIT, *JUDGED_STAGES]


def person(**facts) -> PersonFacts:
    return replace(NOBODY, **{name: frozenset(value) for name, value in facts.items()})


@pytest.mark.parametrize("scope", ["video", "item"])
@pytest.mark.parametrize("task", ALL)
def test_an_uninvolved_person_may_do_anything(task, scope):
    assert why_not(NOBODY, task, scope) is None


@pytest.mark.parametrize("task", JUDGED_STAGES)
def test_the_maker_of_a_foil_may_not_review_or_judge_its_video(task):
    assert why_not(person(made=[HERE]), task, "video") == Refusal.MADE_IT
    assert why_not(person(made=[SAME_VIDEO]), task, "video") == Refusal.MADE_IT
    assert why_not(person(made=[ELSEWHERE]), task, "video") is None


@pytest.mark.parametrize("task", JUDGED_STAGES)
def test_with_the_item_as_scope_only_the_same_group_counts(task):
    assert why_not(person(made=[HERE]), task, "item") == Refusal.MADE_IT
    assert why_not(person(made=[SAME_VIDEO]), task, "item") is None
    assert why_not(person(reviewed=[SAME_VIDEO]), task, "item") is None


@pytest.mark.parametrize("task", [VALIDATION, BASELINE])
def test_a_reviewer_judges_nothing_of_the_video(task):
    assert why_not(person(reviewed=[SAME_VIDEO]), task, "video") == Refusal.REVIEWED_IT


def test_a_maker_and_reviewer_may_still_edit():
    assert why_not(person(made=[HERE], reviewed=[HERE], judged=[HERE]), EDIT, "video") is None


def test_an_author_never_reviews_own_work_nor_what_was_reworded_from_it():
    for own in REVIEW.lineage:
        assert why_not(person(wrote=[own]), REVIEW, "video") == Refusal.OWN_WORK


@pytest.mark.parametrize("scope", ["video", "item"])
def test_a_reviewer_may_review_a_foil_again_and_other_foils_of_the_video(scope):
    assert why_not(person(reviewed=[HERE, SAME_VIDEO]), REVIEW, scope) is None


def test_a_reviewer_who_edits_on_the_video_may_not_review_it_again():
    assert why_not(person(reviewed=[HERE], made=[SAME_VIDEO]), REVIEW, "video") == Refusal.MADE_IT


def test_a_reviewer_or_fixer_never_validates():
    assert why_not(person(reviewed=[HERE]), VALIDATION, "item") == Refusal.REVIEWED_IT


def test_nobody_gets_the_same_item_twice_in_a_stage():
    for task in (VALIDATION, BASELINE):
        assert why_not(person(judged_items=[500]), task, "video") == Refusal.SAME_ITEM
        assert why_not(person(judged_items=[501]), task, "video") is None


def test_several_items_of_a_video_may_be_validated_but_the_baseline_wants_fresh_eyes():
    judged = person(judged=[SAME_VIDEO])
    assert why_not(judged, VALIDATION, "video") is None
    assert why_not(judged, BASELINE, "video") == Refusal.JUDGED_IT
    # "judged any item of that video" has no narrower scope.
    assert why_not(judged, BASELINE, "item") == Refusal.JUDGED_IT


def test_imported_items_of_a_video_share_one_involvement_in_item_scope():
    imported = replace(VALIDATION, hand=PriorInvolvement(1, None))
    assert why_not(person(made=[PriorInvolvement(1, None)]), imported, "item") == Refusal.MADE_IT
    assert why_not(person(made=[HERE]), imported, "item") is None


@pytest.mark.parametrize("task", ALL)
def test_missing_media_closed_tasks_and_reserved_foils_give_no_work(task):
    assert why_not(NOBODY, replace(task, media_ready=False), "video") == Refusal.MEDIA_MISSING
    assert why_not(NOBODY, replace(task, is_open=False), "video") == Refusal.TASK_OVER
    assert why_not(NOBODY, replace(task, reserved_for=8), "video") == Refusal.RESERVED
    assert why_not(NOBODY, replace(task, reserved_for=7), "video") is None


hands = st.frozensets(st.builds(PriorInvolvement, st.integers(1, 2), st.sampled_from([None, 10, 11, 20])), max_size=3)
ids = st.frozensets(st.integers(100, 104), max_size=3)
people = st.builds(
    PersonFacts,
    person=st.just(7),
    made=hands,
    reviewed=hands,
    judged=hands,
    wrote=ids,
    judged_items=st.frozensets(st.integers(500, 501), max_size=2),
)
tasks = st.sampled_from(ALL)


@given(people, tasks)
def test_the_video_scope_forbids_all_that_the_item_scope_forbids(who, task):
    if why_not(who, task, "item") is not None:
        assert why_not(who, task, "video") is not None


@given(people, tasks, hands, ids, st.sampled_from(["video", "item"]))
def test_doing_more_never_allows_more(who, task, more, more_ids, scope):
    did_more = replace(
        who, made=who.made | more, reviewed=who.reviewed | more, judged=who.judged | more, wrote=who.wrote | more_ids
    )
    if why_not(who, task, scope) is not None:
        assert why_not(did_more, task, scope) is not None


@pytest.mark.parametrize(
    ("fields", "second", "refusal"),
    [
        ({"decided": frozenset({5})}, True, Refusal.REVIEWED_IT),
        ({"decided": frozenset({5})}, False, None),
        # Who decided on what the text came from may be the second to look at it.
        ({"decided": frozenset({4})}, True, None),
        ({"judged": frozenset({PriorInvolvement(1, 10)})}, True, Refusal.JUDGED_IT),
        ({"judged": frozenset({PriorInvolvement(1, 10)})}, False, None),
    ],
)
def test_a_second_review_is_somebody_elses(fields, second, refusal):
    task = TaskFacts("review", PriorInvolvement(1, 10), lineage=(5, 4), second=second)
    assert why_not(PersonFacts(1, **fields), task, "item") == refusal


@pytest.mark.parametrize(("group", "scope", "refused"), [(10, "item", True), (11, "item", False), (11, "video", True)])
def test_a_second_review_keeps_to_the_scope_of_leakage(group, scope, refused):
    task = TaskFacts("review", PriorInvolvement(1, 10), second=True)
    person = PersonFacts(1, judged=frozenset({PriorInvolvement(1, group), PriorInvolvement(2, 12)}))
    assert why_not(person, task, scope) == (Refusal.JUDGED_IT if refused else None)


@pytest.mark.parametrize("scope", ["item", "video"])
@pytest.mark.parametrize("stage", ["baseline", "unseen"])
def test_a_study_is_for_those_who_judged_nothing_on_the_video_whatever_the_scope(stage, scope):
    person = PersonFacts(1, judged=frozenset({PriorInvolvement(1, 11)}))
    assert why_not(person, TaskFacts(stage, PriorInvolvement(1, 10)), scope) == Refusal.JUDGED_IT
    assert why_not(person, TaskFacts(stage, PriorInvolvement(2, 12)), scope) is None
