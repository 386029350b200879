"""Objects swapped by models that vote, of what a detector does not see; the detector's filter; what runs look at."""

import pytest
from django.core.files.base import ContentFile

from foilworks.core.corpus.models import MediaState
from foilworks.core.hub.adapters.fake import FakeDetector
from foilworks.core.hub.interfaces import Detection
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from generation.actions.runs import start_run
from generation.filters import detector
from generation.grammar.synonyms import names_of, seen_as
from generation.models import Candidate
from generation.models.side_work import DetectionResult
from generation.records import CaptionInput
from generation.run_request import FoilRequest
from tests.e2e.conftest import moving_dot
from tests.factories import make_caption, make_project, make_subtest, make_video
from tests.generation.making import outcomes, skipped
from tests.hub import folders


@pytest.mark.parametrize(
    ("thing", "labels", "label"),
    [
        ("phone", {"cell phone"}, "cell phone"),
        ("phones", {"cell phone", "cup"}, "cell phone"),
        ("cell phone", {"cell phone"}, "cell phone"),
        ("fridge", {"refrigerator"}, "refrigerator"),
        ("glass", {"wine glass"}, "wine glass"),
        ("woman", {"person"}, "person"),
        ("woman", {"man"}, ""),
        ("person", {"man"}, "man"),
        ("mug", {"cup"}, "cup"),
        ("ball", {"sports ball"}, "sports ball"),
        ("book", {"laptop"}, ""),
        ("bread", {"knife"}, ""),
        ("wine", {"wine glass"}, ""),
        ("dog", {"hot dog"}, ""),
    ],
)
def test_synonyms_name_the_same_thing(thing, labels, label):
    assert seen_as(thing, frozenset(labels)) == label


def test_a_detectors_label_is_one_of_its_own_names():
    assert {"cell phone", "phone", "smartphone"} <= names_of("cell phones")


NOUNS = ("anchor", "balloon", "candle", "drum")


def swapped(text, seen=(), **params):
    caption = CaptionInput("c", text, facts={"objects": list(seen)})
    asked = {"model": "fake-mask:, fake-mask:", "detector": "", "vocabulary": "model", **params}
    (outcome,) = outcomes("object_swap", [caption], **asked)
    return outcome


def test_a_detected_thing_is_dropped_and_named():
    every = [judged.draft for judged in swapped("cutting a keyboard", foils=9).foils]
    assert {draft.facts["to"] for draft in every} >= {"anchor", "candle"}
    assert {draft.facts["votes"] for draft in every} == {2}
    left = [judged.draft for judged in swapped("cutting a keyboard", ["drum"], foils=9).foils]
    words = [draft.facts["to"] for draft in every]
    assert [draft.facts["to"] for draft in left] == [word for word in words if word != "drum"]
    assert left[0].facts["dropped_as_seen"] == ["drum"]
    assert [draft.rank for draft in left] == list(range(len(left)))
    assert {draft.method for draft in left} == {"object_swap"}
    assert "cutting an anchor" in {draft.foil for draft in every}


def test_synonyms_of_the_captions_own_object_are_dropped(tmp_path):
    model = str(folders.masked_lm(tmp_path / "bert"))
    given = {"model": model, "min_votes": 1, "min_probability": 0.0, "foils": 99, "device": "cpu"}
    lifted = [judged.draft for judged in swapped("lifting a spoon", **given).foils]
    assert {"table", "box", "door"} <= {draft.facts["to"] for draft in lifted}
    drafts = [judged.draft for judged in swapped("lifting a desk", **given).foils]
    assert {draft.facts["to"] for draft in drafts} == {draft.facts["to"] for draft in lifted} - {"table"}
    assert (drafts[0].facts["seen"], drafts[0].facts["dropped_as_seen"]) == ([], ["table"])


def test_the_detector_runs_before_the_best_words_are_chosen():
    best = swapped("cutting a keyboard", foils=2).foils
    seen = best[0].draft.facts["to"]
    kept = [judged.draft.facts["to"] for judged in swapped("cutting a keyboard", [seen], foils=2).foils]
    assert kept[0] == best[1].draft.facts["to"]
    assert len(kept) == 2


def test_a_caption_is_skipped_if_all_words_are_detected():
    every = [judged.draft.facts["to"] for judged in swapped("cutting a keyboard", foils=99).foils]
    caption = CaptionInput("c", "cutting a keyboard", facts={"objects": every})
    asked = {"model": "fake-mask:, fake-mask:", "detector": "", "vocabulary": "model"}
    (outcome,) = outcomes("object_swap", [caption], **asked)
    assert outcome.foils == ()
    assert "are seen in the video" in outcome.skipped[0]
    assert skipped("object_swap", "sleeping", **asked) == "it has no object that can be replaced"


def test_three_families_of_models_vote(tmp_path):
    models = [folders.masked_lm(tmp_path / "bert"), folders.masked_lm(tmp_path / "roberta", roberta=True)]
    given = {"model": ", ".join(map(str, [*models, "fake-mask:"])), "min_votes": 1, "min_probability": 0.0, "top": 5}
    found = swapped("a man folds a red shirt", device="cpu", **given)
    assert found.foils
    assert all(1 <= judged.draft.facts["votes"] <= 3 for judged in found.foils)
    assert found.foils[0].draft.model_id.count(",") == 2


def judged(foil, seen):
    caption = CaptionInput("c", "a man opens a box", facts={"objects": seen})
    return detector.judge(caption, foil, others=(), params={"tagger": "offline"})


def test_the_filter_drops_synonyms_of_detected_things():
    verdict = judged("a man opens a phone", ["cell phone"])
    assert not verdict.passed
    assert verdict.detail == "'phone' is seen in the video (as cell phone)"
    assert judged("a man opens a book", ["cell phone"]).passed
    assert judged("a man closes a box", ["box"]).passed
    assert judged("a man opens a phone", []).detail == "the objects in the frames are not known"


def test_existence_excludes_synonyms_of_detected_things():
    captions = [
        CaptionInput("a", "there is at least one car", "v1", facts={"objects": ["refrigerator"]}),
        CaptionInput("b", "there is at least one fridge", "v2"),
    ]
    first, second = outcomes("existence", captions)
    assert first.foils == ()
    assert second.foils[0].draft.foil == "there is at least one car"


@pytest.mark.django_db
def test_a_run_detects_once_per_file_and_drops_detected_things(tmp_path, settings, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    write_mp4(tmp_path / "dot.mp4", moving_dot(), 12.0)
    project = make_project()
    video = make_video(project, media_state=MediaState.READY, sha256="ab" * 32)
    video.file.save("dot.mp4", ContentFile((tmp_path / "dot.mp4").read_bytes()))
    make_caption(video, "there is at least one book")
    make_caption(make_video(project), "there is at least one phone")
    seen = []

    def looked(self, frames):
        seen.append(len(frames))
        return [[Detection("cell phone", 0.9, (0.0, 0.0, 1.0, 1.0))] for _ in frames]

    monkeypatch.setattr(FakeDetector, "detect", looked)
    subtest = make_subtest(project)
    for detector_name in ("fake-detector:", ""):
        params = {"detector": detector_name, "frames": 5, "things": "any"}
        run = start_run(None, project, FoilRequest(subtest=subtest, method="existence", params=params, filters={}))
        assert run_now(run.job).state == JobState.DONE
        foils = set(Candidate.objects.filter(group__run=run).values_list("text", flat=True))
        # The phone that the detector sees beside the book is never said to be there in its place.
        assert ("there is at least one phone" in foils) is (detector_name == "")
    again = start_run(
        None,
        project,
        FoilRequest(
            subtest=subtest,
            method="existence",
            params={"detector": "fake-detector:", "frames": 5, "min_score": 0.95, "things": "any"},
            filters={},
        ),
    )
    assert run_now(again.job).state == JobState.DONE
    assert seen == [5]
    assert DetectionResult.objects.get().labels == {"cell phone": 0.9}
    texts = set(Candidate.objects.filter(group__run=again).values_list("text", flat=True))
    assert "there is at least one phone" in texts
