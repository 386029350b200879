"""Every condition that the pages on people and work name, with the tests that walk what the page promises then."""

import re
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.management.commands import changepassword
from django.core.management import call_command

from scripts.doc_pages import DOCS, split
from tests.factories import make_user

PAGES = ("how-to/people.md", "workflow.md")
TESTS = Path(__file__).resolve().parents[1]
CONDITION = re.compile(r"(?:^|(?<=[.:;] )|(?<=\n- )|(?<=\n\n))\**((?:If|Lost|Forgotten) [\w' ]+)")
STUDY, LATE, LINKS = (
    "annotation/test_crowd_places.py",
    "annotation/test_late_places.py",
    "annotation/test_entry_attacks.py",
)
ERASED, MONEY = "evaluation/test_erasure.py", "e2e/test_people_and_money.py"
WALKED = {
    "If you leave the code empty": f"{LINKS}::test_a_guessed_code_is_refused_and_guessing_has_an_end",
    "If the pay has changed since the page was opened": (
        f"{STUDY}::test_nobody_enters_at_another_rate_than_their_page_showed"
    ),
    "If there is no task for them": f"{STUDY}::test_an_empty_study_says_so_and_gives_out_no_place",
    "If their minutes end with all tasks done": (
        f"{LATE}::test_a_place_with_all_tasks_done_completes_when_its_time_is_over"
    ),
    "If fewer tasks are done": f"{LATE}::test_a_late_place_with_missing_tasks_waits_until_it_is_freed",
    "If a researcher removes a worker": f"{LINKS}::test_a_removed_worker_who_is_added_again_may_come_again",
    "If somebody has lost their browser": f"{MONEY}::test_a_worker_who_lost_the_browser_comes_back",
    "If somebody knows a worker's Prolific id": f"{LINKS}::test_unsigned_ids_open_work_but_no_stored_data",
    "If a worker requests erasure there": f"{ERASED}::test_a_crowd_worker_is_erased_completely_by_their_researcher",
    "If they only want to leave": f"{LINKS}::test_a_worker_who_was_removed_gets_no_code_and_is_not_let_in_again",
    "If nothing is known": f"{STUDY}::test_the_approval_that_the_platform_signs_is_held_against_the_bar",
    "If they had accepted an earlier text": (
        "projects/test_consent.py::test_a_person_who_refuses_has_the_rule_of_the_text_that_was_asked"
    ),
    "If the work is removed": f"{ERASED}::test_withdrawal_keeps_or_removes_work_as_the_consent_says",
    "Lost temporary password": "e2e/test_who_is_missing.py::test_a_lost_temporary_password_is_renewed_by_its_button",
    "Forgotten password": "docs/test_remedies.py::test_an_operator_sets_a_forgotten_password",
    "If a researcher asks for new votes": (
        "annotation/test_multiple_choice.py::test_new_votes_are_collected_on_the_whole_item"
    ),
    "If a translator or an extension changes one all the same": (
        f"{MONEY}::test_a_translated_sentence_is_restored_and_judged_again"
    ),
    "If you publish a new version while people are working": (
        "annotation/test_guideline_pages.py::test_a_new_version_warns_where_work_has_begun_and_reaches_not_back"
    ),
    "If it is the action": (
        "annotation/test_quizzes.py::test_practice_of_counterfactuals_asks_for_all_foils_and_checks_the_action"
    ),
    "If a person leaves": (
        "annotation/test_members.py::test_a_removed_members_lease_is_free_at_once_and_the_next_person_gets_it"
    ),
    "If you require the qualification": "annotation/test_quizzes.py::test_nobody_judges_before_they_have_passed",
    "If it is skipped": "annotation/test_claim.py::test_a_skipped_task_comes_back_to_the_person_last",
}


def conditions(text: str) -> list[str]:
    prose = re.sub(r"\n(?![\n|#*-])\s*", " ", split(text)[0])
    return [match.strip() for match in CONDITION.findall(prose)]


def test_every_condition_is_walked_by_a_test_that_exists() -> None:
    named = [condition for page in PAGES for condition in conditions((DOCS / page).read_text(encoding="utf-8"))]
    assert sorted(named) == sorted(WALKED)
    for condition, node in WALKED.items():
        file, _, name = node.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8"), condition


def test_a_new_condition_is_found() -> None:
    text = "A place.\nIf it is lost, ask.\n\n- **Lost key**: call.\n\nAsk, if you can. **If it\nis old**, release it."
    assert conditions(text) == ["If it is lost", "Lost key", "If it is old"]


@pytest.mark.django_db
def test_an_operator_sets_a_forgotten_password(monkeypatch: pytest.MonkeyPatch) -> None:
    nora = make_user("nora")
    monkeypatch.setattr(changepassword.getpass, "getpass", lambda prompt: "green tram stops twice")
    call_command("changepassword", "nora", verbosity=0)
    assert authenticate(username="nora", password="green tram stops twice") == nora
