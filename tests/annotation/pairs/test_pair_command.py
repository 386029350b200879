"""`foilworks pair`: items of two clips from captions, reversals and trims."""

import json

import pytest
from django.core.management import call_command

from annotation.actions.decisions.items import take_down_video
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Task
from annotation.pairs.actions.store_pairs import store_pairs
from annotation.pairs.proposing import propose
from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.core.corpus.models import Caption, Item, MediaState, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.frames import sample_frames
from foilworks.core.media.probe import probe
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from generation.pairs.proposals import KINDS, NATURAL, ORDER, REPETITION, REVERSAL, SPEED
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.media.painted import painted_clip, read_index

pytestmark = pytest.mark.django_db
SITS, STANDS = "a man is sitting on a chair", "a man is standing on a chair"


@pytest.fixture
def subtest():
    return make_subtest(make_project(slug="p"), name="pairs")


@pytest.fixture
def two_captions(subtest):
    for text in (SITS, STANDS):
        make_caption(make_video(subtest.project), text)
    return subtest


def add_film(subtest, tmp_path, *trims, key="film"):
    """Clips of one file of 3 seconds, 8 frames per second, each frame with its number."""
    videos = []
    for start, end in trims:
        fields = {"media_state": MediaState.MISSING, "duration": None, "fps": None}
        name = key if start is None else f"{key}-{start:g}"
        videos.append(make_video(subtest.project, key=name, source_id=key, start_time=start, end_time=end, **fields))
    write_mp4(tmp_path / f"{key}.mp4", painted_clip(24), fps=8)
    attach_folder(None, subtest.project, tmp_path)
    return videos


def add_twins(subtest, tmp_path, *trim):
    """A film of folding, and one of unfolding: each is reversed for the other's sake."""
    videos = []
    for key, text in (("film", "Someone folds the paper."), ("twin", "Someone unfolds the paper.")):
        (video,) = add_film(subtest, tmp_path, trim or (None, None), key=key)
        make_caption(video, text)
        videos.append(video)
    return videos


def frames_of(key):
    """The numbers of the frames on screen, 8 times per second."""
    video = Video.objects.get(key=key)
    start, end = video.start_time or 0.0, video.end_time or video.duration
    sample = sample_frames(clip_file(video), round((end - start) * 8), start, end)
    return [read_index(picture) for picture in sample.frames]


def run(capsys, *options):
    call_command("pair", "--project", "p", "--subtest", "pairs", *options, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_natural_pair_becomes_two_items_that_wait_for_validation(two_captions, capsys):
    result = run(capsys)
    (name,) = result["stored"]
    items = Item.objects.filter(pair=name).order_by("key")
    said = [(item.caption.text, item.foils.get().text, item.state) for item in items]
    assert said == [(SITS, STANDS, ItemState.IN_VALIDATION), (STANDS, SITS, ItemState.IN_VALIDATION)]
    assert result["pairs"][0]["words"] == ["sitting", "standing"]
    assert AuditEvent.objects.filter(action="annotation.store_pair", actor=None).count() == 2


def test_a_second_call_stores_nothing_new(two_captions, capsys):
    first, second = run(capsys), run(capsys)
    assert (second["stored"], second["existing"]) == ([], first["stored"])
    assert Item.objects.count() == 2


def test_a_dry_run_shows_proposals_and_stores_nothing(two_captions, capsys):
    assert len(run(capsys, "--dry-run")["pairs"]) == 1
    assert not Item.objects.exists()
    call_command("pair", "--project", "p", "--subtest", "pairs", "--dry-run")
    assert capsys.readouterr().out == "1 pairs proposed; nothing was stored (--dry-run)\n"


def test_a_reversal_has_a_new_clip_with_the_frames_backwards(subtest, tmp_path, capsys):
    add_twins(subtest, tmp_path)
    name, _ = run(capsys, "--kind", "reversal")["stored"]
    forwards, backwards = Item.objects.filter(pair=name).order_by("key")
    assert frames_of(forwards.video.key) == list(range(24))
    assert frames_of(backwards.video.key) == list(reversed(range(24)))
    made = backwards.video
    assert (made.source_id, made.media_state) == ("film", "ready")
    assert made.conversion == "Encoded again without sound, played backwards."
    assert (backwards.caption.text, backwards.foils.get().text) == (
        "Someone unfolds the paper.",
        "Someone folds the paper.",
    )
    assert [item.facts["played"] for item in (forwards, backwards)] == ["forwards", "backwards"]
    assert AuditEvent.objects.filter(action="corpus.make_clip").count() == 4


def test_forward_clips_of_both_texts_are_equally_many(subtest, tmp_path, capsys):
    add_twins(subtest, tmp_path)
    (spare,) = add_film(subtest, tmp_path, (None, None), key="spare")
    make_caption(spare, "Someone folds the shirt.")
    assert len(run(capsys, "--kind", "reversal")["stored"]) == 2
    facts = [(item.caption.text.split()[1], item.facts["played"]) for item in Item.objects.all()]
    assert sorted(facts) == sorted(
        (verb, played) for verb in ("folds", "unfolds") for played in ("forwards", "backwards")
    )


@pytest.mark.parametrize("kind", ["reversal", "speed", "repetition"])
def test_both_clips_of_a_pair_are_encoded_in_the_same_way(subtest, tmp_path, capsys, kind):
    texts = {
        "reversal": ("Someone folds the paper.", "Someone unfolds the paper."),
        "speed": ("Someone slowly folds the paper.", "Someone quickly folds the paper."),
        "repetition": ("A man claps his hands.", "A man claps his hands."),
    }[kind]
    for at, text in enumerate(texts):
        make_caption(add_film(subtest, tmp_path, (None, None), key=f"film{at}")[0], text)
    for name in run(capsys, "--kind", kind)["stored"]:
        clips = [probe(clip_file(item.video)) for item in Item.objects.filter(pair=name)]
        assert len({(clip.codec, clip.container, clip.width, clip.height, clip.sound) for clip in clips}) == 1
        assert len({clip.n_frames if kind == "speed" else clip.fps for clip in clips}) == 1


def test_a_slow_clip_is_sped_up_and_a_quick_one_slowed(subtest, tmp_path, capsys):
    for key, text in (("slow", "Someone slowly folds it."), ("quick", "Someone quickly folds it.")):
        make_caption(add_film(subtest, tmp_path, (None, None), key=key)[0], text)
    names = run(capsys, "--kind", "speed")["stored"]
    shown = {
        item.key: (item.video.source_id, item.caption.text.split()[1], frames_of(item.video.key))
        for item in Item.objects.filter(pair__in=names)
    }
    twice = [at for at in range(24) for _ in range(2)]
    assert sorted(shown.values()) == sorted(
        [
            ("slow", "slowly", [at for at in range(0, 24, 2) for _ in range(2)]),
            ("slow", "quickly", list(range(0, 24, 2))),
            ("quick", "quickly", list(range(24))),
            ("quick", "slowly", twice),
        ]
    )
    assert all(item.facts["needs_time"] for item in Item.objects.all())


def test_an_event_is_played_two_and_three_times(subtest, tmp_path, capsys):
    make_caption(add_film(subtest, tmp_path, (0.5, 1.5))[0], "A man claps his hands.")
    (name,) = run(capsys, "--kind", "repetition")["stored"]
    two, three = Item.objects.filter(pair=name).order_by("key")
    assert frames_of(two.video.key) == list(range(4, 12)) * 2
    assert frames_of(three.video.key) == list(range(4, 12)) * 3
    assert (two.caption.text, three.caption.text) == (
        "A man claps his hands twice.",
        "A man claps his hands three times.",
    )


def test_only_the_trim_of_a_clip_is_reversed(subtest, tmp_path, capsys):
    add_twins(subtest, tmp_path, 1.0, 2.0)
    name, _ = run(capsys, "--kind", "reversal")["stored"]
    (backwards,) = Item.objects.filter(pair=name, facts__played="backwards")
    assert frames_of(backwards.video.key) == list(reversed(range(8, 16)))


def test_two_trims_are_joined_in_both_orders(subtest, tmp_path, capsys):
    first, second = add_film(subtest, tmp_path, (0.0, 1.0), (2.0, 3.0))
    make_caption(first, "A man sits down.")
    make_caption(second, "A dog barks.")
    (name,) = run(capsys, "--kind", "order")["stored"]
    early, late = list(range(8)), list(range(16, 24))
    items = Item.objects.filter(pair=name).order_by("key")
    assert [frames_of(item.video.key) for item in items] == [early + late, late + early]
    assert [item.caption.text for item in items] == [
        "A man sits down, then a dog barks.",
        "A dog barks, then a man sits down.",
    ]


def test_both_items_of_a_pair_get_validation_tasks(two_captions, capsys):
    run(capsys)
    make_tasks(two_captions.project)
    tasks = Task.objects.filter(item__pair__gt="")
    assert [(task.stage, task.overlap) for task in tasks] == [("validation", two_captions.votes_wanted)] * 2


def test_a_takedown_of_a_video_removes_its_reversed_clip(subtest, tmp_path, capsys):
    film, _twin = add_twins(subtest, tmp_path)
    Video.objects.update(source_id="")
    run(capsys, "--kind", "reversal")
    owner = make_member(subtest.project, Role.RESEARCHER)
    take_down_video(owner, "p", film.pk, "asked for by a person shown")
    of_film = Video.objects.filter(key__startswith="film")
    assert of_film.count() == 3
    assert set(of_film.values_list("media_state", flat=True)) == {MediaState.TAKEN_DOWN}
    assert set(Item.objects.filter(video__in=of_film).values_list("state", flat=True)) == {ItemState.RETRACTED}


def test_made_clips_are_not_used_for_further_pairs(subtest, tmp_path, capsys):
    add_twins(subtest, tmp_path)
    run(capsys, "--kind", "reversal")
    again = {kind: len(list(propose(subtest.project, kind, limit=None, per_caption=1, seed=0))) for kind in KINDS}
    assert again == {NATURAL: 1, ORDER: 0, REVERSAL: 2, SPEED: 0, REPETITION: 0}


def test_a_clip_without_a_source_gets_its_key_as_source(subtest, tmp_path, capsys):
    add_twins(subtest, tmp_path)
    Video.objects.update(source_id="")
    run(capsys, "--kind", "reversal")
    assert set(Video.objects.values_list("source_id", flat=True)) == {"film", "twin"}


def test_a_clip_that_cannot_be_decoded_is_reported_and_the_others_are_stored(subtest, tmp_path, capsys):
    add_twins(subtest, tmp_path)
    Video.objects.filter(key="film").update(start_time=9.0)
    result = run(capsys, "--kind", "reversal")
    assert (len(result["stored"]), len(result["failed"])) == (1, 1)
    assert "the trim starts at 9 s of 3 s" in result["failed"][0]["error"]
    assert Item.objects.count() == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"votes_wanted": 0, "votes_needed": 0}, "collects no votes"), ({"foils_per_item": 2}, "one foil each")],
)
def test_a_subtest_that_cannot_confirm_pairs_is_refused(subtest, capsys, fields, words):
    type(subtest).objects.update(**fields)
    with pytest.raises(SystemExit) as leaving:
        run(capsys)
    assert (leaving.value.code, words in capsys.readouterr().err) == (1, True)


def test_only_researchers_store_pairs(two_captions):
    found = list(propose(two_captions.project, NATURAL, limit=None, per_caption=1, seed=0))
    annotator = make_member(two_captions.project, Role.ANNOTATOR)
    with pytest.raises(AccessDenied):
        store_pairs(annotator, two_captions, found, progress=lambda things, total, label: iter(things))
    assert not Item.objects.exists()


def test_a_caption_that_was_found_false_is_not_proposed(two_captions):
    Caption.objects.filter(text=SITS).update(flagged_false=True)
    assert not list(propose(two_captions.project, NATURAL, limit=None, per_caption=1, seed=0))
