"""Practice and the qualification: what is drawn, what is right, who may validate then."""

import json
from types import SimpleNamespace

import pytest
from django.http import Http404
from django.urls import reverse

from annotation.actions.quality.gold_pairs import add_gold_pairs, label_order, label_pair, withdraw_pair
from annotation.actions.quality.qualification import add_practice_caption, answer_question, start_attempt
from annotation.actions.quality.recounts import save_quality_policy
from annotation.errors import AnnotationError, NotAdmitted
from annotation.models import Attempt, DeclinedVideo, GoldPair, PracticeCaption, Question, Stage, Standing, Use
from annotation.queries.quality import baseline, experts, next_to_label, readiness, tries_of
from annotation.rules.quizzes import Match, draw, grade_edit, has_passed
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.errors import AccessDenied
from tests import factories
from tests.annotation.world import browser, shown_as
from tests.invariants import broken_invariants
from tests.pages import read_page

pytestmark = pytest.mark.django_db
CAPTION = "a man folds a shirt."


def shown(question: Question, choice: str) -> str:
    return shown_as(choice, SimpleNamespace(caption_first=question.caption_first))


def proficiency(world, items: int = 14, **fields):
    """A proficiency subtest with valid items, each of a clip of its own."""
    subtest = factories.make_subtest(world.project, kind="proficiency", **fields)
    for number in range(items):
        caption = factories.make_caption(factories.make_video(world.project), f"a man lifts {number} boxes.")
        item = factories.make_item(subtest, caption, (f"a man lifts {number + 50} boxes.",), state="valid")
        item.foils.update(verdict="valid")
    return subtest


@pytest.fixture
def test_open(world):
    """A qualification of seven questions, two of them mismatched, two tries, required."""
    subtest = proficiency(world, 14)
    assert add_gold_pairs(world.owner, world.project, Use.QUALIFICATION, subtest, 10) == 10
    assert add_gold_pairs(world.owner, world.project, Use.QUALIFICATION, subtest, 4, mismatched=True, seed=3) == 4
    opened = {"qualification_open": True, "qualification_required": True, "test_length": 7, "tries": 2}
    save_quality_policy(world.owner, world.project, **opened)
    return world


def take(world, name: str, wrong: int = 0) -> Attempt:
    """The whole test, so many answers wrong."""
    person = getattr(world, name)
    attempt = start_attempt(person, world.project, Stage.QUALIFICATION)
    for question in attempt.questions.select_related("pair").order_by("place"):
        answer = "cannot_tell" if question.place < wrong else shown(question, question.pair.answer)
        answer_question(person, attempt.pk, question.place, answer, seconds=3, watch={"covered": 1})
    attempt.refresh_from_db()
    return attempt


def test_nobody_judges_before_they_have_passed(test_open):
    world = test_open
    world.item()
    with pytest.raises(NotAdmitted, match="qualification test"):
        world.claim("vera", Stage.VALIDATION)
    attempt = take(world, "vera")
    assert (attempt.passed, attempt.questions.count()) == (True, 7)
    assert attempt.questions.filter(pair__mismatched=True).count() == 2
    assert Standing.objects.get(person=world.vera).qualified_at is not None
    assert world.claim("vera", Stage.VALIDATION) is not None
    with pytest.raises(AnnotationError, match="already passed"):
        start_attempt(world.vera, world.project, Stage.QUALIFICATION)
    assert broken_invariants() == []


def test_a_second_try_asks_other_questions_and_there_is_no_third(test_open):
    world = test_open
    first, second = take(world, "vera", wrong=1), take(world, "vera", wrong=7)
    # Six of seven are 86 %.
    assert (first.passed, second.passed) == (False, False)
    asked = [set(found.questions.values_list("pair", flat=True)) for found in (first, second)]
    assert not asked[0] & asked[1]
    with pytest.raises(AnnotationError, match="no attempts left"):
        start_attempt(world.vera, world.project, Stage.QUALIFICATION)
    with pytest.raises(NotAdmitted):
        world.claim("vera", Stage.VALIDATION)
    assert [(found.right, found.n) for found in tries_of(world.vera, world.project)] == [(0, 7), (6, 7)]


def test_with_too_few_new_questions_nobody_gets_the_same_again(test_open):
    world = test_open
    take(world, "vera", wrong=7)
    withdraw_pair(world.owner, world.project, GoldPair.objects.exclude(questions__isnull=False).first().pk)
    with pytest.raises(AnnotationError, match="no new questions"):
        start_attempt(world.vera, world.project, Stage.QUALIFICATION)


def test_a_person_who_declined_many_is_asked_about_the_rest(test_open):
    world = test_open
    few = GoldPair.objects.order_by("pk")[3:]
    for pair in few:
        DeclinedVideo.objects.create(person=world.vera, video=pair.video)
    assert take(world, "vera", wrong=3).questions.count() == 3
    with pytest.raises(AnnotationError, match="no new questions"):
        start_attempt(world.vera, world.project, Stage.QUALIFICATION)


def test_nobody_is_asked_about_a_video_that_they_declined(test_open):
    """In the qualification and in practice, on pairs and on captions."""
    world = test_open
    shown = list(GoldPair.objects.filter(mismatched=False).order_by("pk"))
    mismatched = GoldPair.objects.filter(mismatched=True)
    for pair in [*shown[:5], *mismatched[:2]]:
        DeclinedVideo.objects.create(person=world.vera, video=pair.video)
    declined = set(DeclinedVideo.objects.values_list("video", flat=True))
    asked = take(world, "vera").questions.values_list("pair__video", flat=True)
    assert declined.isdisjoint(asked)

    GoldPair.objects.filter(pk__in=[pair.pk for pair in shown[:6]]).update(use=Use.PRACTICE)
    save_quality_policy(world.owner, world.project, qualification_required=False, qualification_open=False)
    captions = [factories.make_caption(factories.make_video(world.project)) for _ in range(2)]
    for caption in captions:
        add_practice_caption(world.owner, world.project, caption, ["a man unfolds a shirt."])
    DeclinedVideo.objects.create(person=world.ann, video=captions[0].video)
    save_quality_policy(world.owner, world.project, practice_open=True)
    judged = start_attempt(world.vera, world.project, Stage.PRACTICE)
    assert declined.isdisjoint(judged.questions.values_list("pair__video", flat=True))
    edited = start_attempt(world.ann, world.project, Stage.PRACTICE, Stage.EDIT)
    assert [question.practice.caption for question in edited.questions.all()] == captions[1:]


def test_a_question_is_answered_once_and_a_go_is_resumed(test_open):
    world = test_open
    attempt = start_attempt(world.vera, world.project, Stage.QUALIFICATION)
    question = answer_question(world.vera, attempt.pk, 0, "both")
    assert answer_question(world.vera, attempt.pk, 0, "neither").choice == question.choice == "both"
    assert start_attempt(world.vera, world.project, Stage.QUALIFICATION).pk == attempt.pk
    for wrong in (("6", 1), ("caption", 1), (1, 99)):
        with pytest.raises(AnnotationError):
            answer_question(world.vera, attempt.pk, wrong[1], wrong[0])
    with pytest.raises(Http404):
        answer_question(world.vic, attempt.pk, 1, "both")
    with pytest.raises(AccessDenied):
        start_attempt(world.ann, world.project, Stage.QUALIFICATION)


def test_two_experts_label_ten_each_and_their_accuracy_is_the_baseline(test_open):
    world = test_open
    other = factories.make_member(world.project, "researcher")
    for expert, wrong in ((world.owner, 1), (other, 3)):
        for number in range(10):
            pair, done = next_to_label(expert, world.project.quality)
            assert done == number
            first = label_order(world.project.quality, expert, pair.pk)
            right = shown_as(pair.answer, SimpleNamespace(caption_first=first))
            label_pair(expert, world.project, pair.pk, "both" if number < wrong else right)
        assert next_to_label(expert, world.project.quality) == (None, 10)
    found = experts(world.project)
    assert sorted(expert.share.right for expert in found) == [7, 9]
    assert baseline(found) == pytest.approx(0.8)


def test_nothing_opens_without_what_it_needs(world):
    for fields, words in (
        ({"qualification_required": True}, "Open the qualification"),
        ({"qualification_open": True}, "does not have 10 questions"),
        ({"practice_open": True}, "Add pairs or captions to practice"),
        ({"gold_rate": 0.2}, "Add gold pairs before you set a share"),
        ({"gold_rate": 0.9}, "gold_rate"),
        ({"guess_accuracy": 0.95}, "must be higher"),
    ):
        with pytest.raises(AnnotationError, match=words):
            save_quality_policy(world.owner, world.project, **fields)
    with pytest.raises(AccessDenied):
        save_quality_policy(world.vera, world.project, tries=3)


def test_pairs_are_drawn_by_seed_from_valid_items_without_a_pair(world):
    subtest = proficiency(world, 6)
    factories.make_item(subtest)
    main = factories.make_subtest(world.project, proficiency_subtest=subtest)
    assert add_gold_pairs(world.owner, world.project, Use.MIXED, subtest, 4, seed=5) == 4
    assert add_gold_pairs(world.owner, world.project, Use.MIXED, subtest, 9) == 2
    with pytest.raises(AnnotationError, match="already gold pairs"):
        add_gold_pairs(world.owner, world.project, Use.MIXED, subtest, 1)
    # Shown as what the work around it is of.
    assert set(GoldPair.objects.values_list("subtest", "answer", "said_by")) == {(main.pk, "caption", world.owner.pk)}
    assert readiness(world.project, Use.MIXED).matched == 6


def test_a_mismatched_pair_shows_the_clip_of_another_item(world):
    add_gold_pairs(world.owner, world.project, Use.MIXED, proficiency(world, 5), 5, mismatched=True)
    pairs = list(GoldPair.objects.select_related("item"))
    assert len(pairs) == 5
    assert all(pair.video_id != pair.item.video_id and pair.answer == "neither" for pair in pairs)


def test_the_qualification_takes_one_subtest_a_test(world):
    one, two = proficiency(world, 3, test="Change of State"), proficiency(world, 3, test="Change of State")
    add_gold_pairs(world.owner, world.project, Use.QUALIFICATION, one, 2)
    with pytest.raises(AnnotationError, match="Withdraw that pair first"):
        add_gold_pairs(world.owner, world.project, Use.QUALIFICATION, two, 2)
    add_gold_pairs(world.owner, world.project, Use.QUALIFICATION, two, 2, mismatched=True)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a man unfolds a shirt.", Match.SAME),
        ("A man unfolds  a shirt", Match.SAME),
        ("a man tears a shirt.", Match.SAME_PLACE),
        ("a woman folds a shirt.", Match.ELSEWHERE),
        ("a man folds a shirt.", Match.BROKEN),
    ],
)
def test_an_edit_is_held_against_the_checks_and_the_experts_foils(text, match):
    assert grade_edit(CAPTION, text, ["a man unfolds a shirt."]).match == match


def test_nine_of_ten_pass_and_a_draw_repeats_itself():
    assert (has_passed(9, 10, 0.9), has_passed(6, 7, 0.9), has_passed(7, 7, 0.9), has_passed(0, 0, 0.9)) == (
        True,
        False,
        True,
        False,
    )
    drawn = draw(7, 1, 1, range(20), range(100, 110), 10, 0.3)
    assert (
        drawn
        == draw(7, 1, 1, range(20), range(100, 110), 10, 0.3)
        != draw(7, 2, 1, range(20), range(100, 110), 10, 0.3)
    )
    assert sum(pk >= 100 for pk in drawn) == 3
    # What one kind lacks the other makes up for.
    assert len(draw(7, 1, 1, range(2), range(100, 110), 10, 0.3)) == 10
    assert len(draw(7, 1, 1, range(20), (), 10, 0.3)) == 10


@pytest.fixture
def practice(world):
    add_gold_pairs(world.owner, world.project, Use.PRACTICE, proficiency(world, 2), 2, explanation="Count the boxes.")
    caption = factories.make_caption(factories.make_video(world.project), CAPTION)
    add_practice_caption(world.owner, world.project, caption, ["a man unfolds a shirt."], "Only the verb.")
    save_quality_policy(world.owner, world.project, practice_open=True)
    return world


def test_practice_says_at_once_what_was_right_and_why(practice):
    world = practice
    client = browser(world.vera)
    page = client.post(
        reverse("annotation:practice", args=[world.project.slug]), {"of_stage": "validation"}, follow=True
    )
    attempt = Attempt.objects.get()
    question = attempt.questions.get(place=0)
    url = reverse("annotation:question", args=[world.project.slug, attempt.pk, 0])
    assert page.redirect_chain[-1][0] == url
    page = client.post(url, {"answer": "neither"}, follow=True).content.decode()
    read_page(page).check("Incorrect.", "Count the boxes.")
    expected = "Only the first is true" if question.caption_first else "Only the second is true"
    assert f"The expert&#x27;s answer:</span> {expected}" in page or expected in page
    client.post(reverse("annotation:question", args=[world.project.slug, attempt.pk, 1]), {"answer": "both"})
    page = client.get(reverse("annotation:attempt", args=[world.project.slug, attempt.pk])).content.decode()
    assert "0 of 2 correct." in page
    # As often as they like; what gives feedback is never mixed in.
    assert start_attempt(world.vera, world.project, Stage.PRACTICE).number == 2
    assert not GoldPair.objects.filter(use=Use.MIXED).exists()


def test_practice_at_editing_runs_the_live_checks_and_shows_the_experts_foil(practice):
    world = practice
    attempt = start_attempt(world.ann, world.project, Stage.PRACTICE, Stage.EDIT)
    client, url = browser(world.ann), reverse("annotation:question", args=[world.project.slug, attempt.pk, 0])
    assert client.post(url, {"text": "  "}).status_code == 400
    read_page(client.post(url, {"text": "a woman folds a shirt."}, follow=True)).check(
        "Incorrect: the expert changed different or fewer words.", "Only the verb.", "unfolds"
    )
    attempt.refresh_from_db()
    assert (attempt.finished_at is not None, attempt.questions.get().right) == (True, False)


def test_practice_of_counterfactuals_asks_for_all_foils_and_checks_the_action(world):
    """As in (Feint6K, Sec. 3.2): the same task as later, with feedback."""
    changes = Subtest.Changes.ACTION
    subtest = factories.make_subtest(world.project, foils_per_item=3, changes=changes)
    caption = factories.make_caption(factories.make_video(world.project), CAPTION)
    add_practice_caption(world.owner, world.project, caption, ["a man unfolds a shirt."], subtest=subtest)
    save_quality_policy(world.owner, world.project, practice_open=True)
    client = browser(world.ann)
    answers = (
        (["a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."], True, "Correct"),
        (["a man unfolds a shirt.", "a man tears a coat.", "a man irons a shirt."], False, "Incorrect"),
        (["a man unfolds a shirt.", "a man tears a shirt.", "a man tears  a shirt."], False, "This text is not a foil"),
    )
    for texts, right, said in answers:
        attempt = start_attempt(world.ann, world.project, Stage.PRACTICE, Stage.EDIT)
        url = reverse("annotation:question", args=[world.project.slug, attempt.pk, 0])
        page = client.get(url).content.decode()
        read_page(page).check("Foil 3 of 3", "Change only the action.")
        assert json.loads(page.partition('"foil-facts" type="application/json">')[2].partition("<")[0])["marks"]["stay"]
        refused = client.post(url, {"text": texts[:2]})
        assert refused.status_code == 400
        assert "Write 3 foils." in refused.content.decode()
        shown = client.post(url, {"text": texts}, follow=True).content.decode()
        assert attempt.questions.get().right is right
        assert said in shown
        assert shown.count("Your foil") == 3


def test_a_researcher_names_the_subtest_of_a_practice_caption(world):
    subtest = factories.make_subtest(world.project, foils_per_item=5, changes=Subtest.Changes.ACTION)
    caption = factories.make_caption(factories.make_video(world.project), CAPTION)
    client = browser(world.owner)
    url = reverse("annotation:add_practice", args=[world.project.slug])
    given = {"key": caption.key, "examples": "a man unfolds a shirt.", "subtest": str(subtest.pk)}
    assert client.post(url, given).status_code == 302
    practice = PracticeCaption.objects.get()
    assert (practice.subtest, practice.wanted) == (subtest, 5)
    page = client.get(reverse("annotation:gold", args=[world.project.slug, "practice"])).content.decode()
    assert f"5 foils per caption, {subtest.name}" in " ".join(page.split())
    other = factories.make_subtest(factories.make_project())
    with pytest.raises(AnnotationError, match="This subtest belongs to another project"):
        add_practice_caption(world.owner, world.project, caption, ["a man tears a shirt."], subtest=other)


def test_examples_that_are_not_foils_are_rejected(world):
    caption = factories.make_caption(factories.make_video(world.project), CAPTION)
    for examples in ([], ["  "], [CAPTION]):
        with pytest.raises(AnnotationError):
            add_practice_caption(world.owner, world.project, caption, examples)


def test_the_test_shows_no_answer_before_its_end_and_the_queue_leads_to_it(test_open):
    world = test_open
    client, slug = browser(world.vera), world.project.slug
    queue = client.get(reverse("annotation:queue", args=[slug, "validation"])).content.decode()
    assert reverse("annotation:qualification", args=[slug]) in queue
    sent = client.post(reverse("annotation:queue", args=[slug, "validation"]))
    assert sent.url == reverse("annotation:queue", args=[slug, "validation"])
    client.post(reverse("annotation:qualification", args=[slug]))
    attempt = Attempt.objects.get()
    url = reverse("annotation:question", args=[slug, attempt.pk, 0])
    assert client.post(url, {"answer": "both"}).url == reverse("annotation:attempt", args=[slug, attempt.pk])
    assert client.get(url).status_code == 302
    assert client.get(reverse("annotation:attempt", args=[slug, attempt.pk])).url.endswith("/1/")
