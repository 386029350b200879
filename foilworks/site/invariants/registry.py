"""List every invariant of `foilworks check`: name -> generator of violations. Its JSON contains the names."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from foilworks.site.invariants import (
    candidates,
    captions,
    database,
    history,
    items,
    leakage,
    media,
    multiple_choice,
    object_checks,
    releases,
    reviews,
    slots,
    text_order,
    validator_quality,
    votes,
    ways_in,
)
from foilworks.site.invariants.violation import Check, InvariantViolation

_SUBJECTS: tuple[tuple[str, tuple[Check, ...]], ...] = (
    (
        "database",
        (database.the_file_is_whole, database.references_lead_somewhere, database.projects_do_not_mix),
    ),
    (
        "slots",
        (
            slots.places_follow_their_task,
            slots.open_pairs_want_what_their_subtest_says,
            slots.tasks_that_are_over_hold_nobody,
            slots.a_place_has_a_person_while_it_is_used,
            slots.one_running_lease_a_leased_place,
            slots.what_is_done_was_done,
        ),
    ),
    (
        "votes",
        (
            votes.votes_say_whose_they_are,
            votes.one_vote_a_person_in_an_item,
            votes.counted_votes_have_their_place,
            votes.no_task_counts_more_than_its_overlap,
            votes.the_caption_is_not_always_in_the_same_place,
        ),
    ),
    (
        "studies",
        (
            multiple_choice.a_choice_is_one_of_the_texts_shown,
            multiple_choice.a_judged_choice_is_one_of_the_texts_shown,
            text_order.the_caption_stands_first_half_of_the_time,
            object_checks.an_answer_is_about_every_object,
            object_checks.only_what_was_not_seen_has_a_class,
        ),
    ),
    (
        "leakage",
        (
            leakage.nobody_reviews_own_work,
            leakage.nobody_judges_what_they_made_or_reviewed,
            leakage.no_study_by_who_judged,
            leakage.nobody_judges_with_and_without_the_clip,
        ),
    ),
    (
        "people",
        (
            validator_quality.gold_counts_in_nothing,
            validator_quality.nobody_sees_gold_twice,
            validator_quality.no_gold_on_what_they_made,
            validator_quality.paused_validators_have_a_reason_and_no_task,
            validator_quality.stored_counts_match_votes,
            validator_quality.qualified_validators_passed,
        ),
    ),
    (
        "ways_in",
        (
            ways_in.who_is_let_through_has_agreed,
            ways_in.a_place_ends_once_and_is_a_workers,
            ways_in.an_erased_account_is_empty,
        ),
    ),
    (
        "items",
        (
            items.an_item_is_about_one_video,
            items.an_item_is_what_its_pairs_say,
            items.a_pair_is_what_its_votes_say,
            items.unanimous_means_every_vote,
            items.false_captions_are_flagged,
            items.an_assembled_item_has_its_candidates_foils,
        ),
    ),
    (
        "candidates",
        (
            candidates.editing_is_in_somebodys_hands,
            candidates.what_is_in_review_waits_for_one_reviewer,
            candidates.groups_that_lack_foils_can_be_claimed,
            candidates.a_rejection_has_its_reason,
            candidates.an_accepted_foil_is_of_its_groups_item,
            candidates.edits_give_the_text,
            candidates.somebody_or_something_made_it,
        ),
    ),
    (
        "reviews",
        (reviews.a_second_review_is_by_somebody_else, reviews.what_is_accepted_unreviewed_was_not_reviewed),
    ),
    (
        "captions",
        (
            captions.a_revision_takes_the_place_of_a_corrected_caption,
            captions.nothing_lives_under_a_caption_that_was_given_up,
        ),
    ),
    (
        "history",
        (
            history.candidates_came_by_legal_moves,
            history.items_came_by_legal_moves,
            history.sealed_audit_rows_are_unchanged,
        ),
    ),
    ("releases", (releases.a_release_is_its_hash, releases.scores_are_numbers)),
    (
        "media",
        (
            media.a_ready_clip_has_its_file,
            media.a_clip_elsewhere_has_its_address,
            media.a_broken_clip_says_why,
            media.trims_are_in_order,
        ),
    ),
)
INVARIANTS: dict[str, Check] = {
    f"{subject}.{check.__name__}": check for subject, checks in _SUBJECTS for check in checks
}


# They look for files of videos, which a backup may leave out.
OF_FILES = frozenset({f"media.{media.a_ready_clip_has_its_file.__name__}"})


def violations(skipped: Collection[str] = ()) -> list[dict[str, str]]:
    """Yield every row that breaks an invariant: {"invariant", "row", "problem"}, in the order of the table."""
    checks = {name: check for name, check in INVARIANTS.items() if name not in skipped}
    return [_violation(name, violation) for name, check in checks.items() for violation in check()]


def damaged_files(progress: Callable[[Iterable[Any], int, str], Iterator[Any]]) -> list[dict[str, str]]:
    """Yield the same for stored videos whose bytes have changed."""
    check = media.a_stored_file_is_its_hash
    return [_violation(f"media.{check.__name__}", violation) for violation in check(progress)]


def _violation(name: str, violation: InvariantViolation) -> dict[str, str]:
    return {"invariant": name, "row": violation.row, "problem": violation.problem}
