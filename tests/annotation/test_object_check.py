"""The object check: what is imported, which frames are drawn, their pictures, people's answers, the five classes."""

import json
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.actions.studies import ask_for_nouns, classify_object, import_objects, open_object_check
from annotation.actions.submissions.judgements import submit_objects
from annotation.actions.undo import undo_objects
from annotation.errors import AnnotationError
from annotation.models import CheckedFrame, FrameObjects, ObjectAnswer, ObjectError, Stage, Task
from annotation.queries.object_checks import next_unseen
from annotation.rules.objects import CheckedObject, LineError, drawn_frames, parse_answers, parse_line, seen_by_most
from evaluation.analyses.objects import compute
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Video
from foilworks.core.jobs.runner import execute
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.frames import frame_at, jpeg
from foilworks.core.projects.errors import AccessDenied
from tests import factories
from tests.annotation.world import World, make_world, new_key
from tests.invariants import broken_invariants

SEEN = {"yes": True, "no": False}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("nonsense", "line"),
        ("[1]", "line"),
        ('{"time": 1, "objects": ["a"]}', "video"),
        ('{"video": "a\\u0000b", "time": 1, "objects": ["a"]}', "video"),
        ('{"video": "\\ud800", "time": 1, "objects": ["a"]}', "video"),
        ('{"video": "v", "time": -1, "objects": ["a"]}', "time"),
        ('{"video": "v", "time": true, "objects": ["a"]}', "time"),
        ('{"video": "v", "time": 1e400, "objects": ["a"]}', "time"),
        ('{"video": "v", "objects": "a"}', "objects"),
        ('{"video": "v", "objects": [" "]}', "objects"),
        ('{"video": "v", "objects": ["a\\u0000b"]}', "objects"),
        ('{"video": "v", "objects": ["a"], "source": ""}', "source"),
    ],
)
def test_a_line_that_is_none_says_which_field(line, field):
    with pytest.raises(LineError) as caught:
        parse_line(line, "import")
    assert caught.value.field == field


def test_a_line_is_read_and_repeated_names_are_left_out():
    row = parse_line('{"video": "v", "time": 1.5, "objects": [" table ", "lamp", "table"]}', "llava")
    assert (row.key, row.time, row.objects, row.source) == ("v", 1.5, ("table", "lamp"), "llava")


def test_one_frame_a_video_is_drawn_by_the_seed():
    frames = {video: list(range(video * 10, video * 10 + 8)) for video in range(200)}
    drawn = drawn_frames(frames, 100, 1)
    assert len({frame // 10 for frame in drawn}) == len(drawn) == 100
    assert drawn == drawn_frames(frames, 100, 1) != drawn_frames(frames, 100, 2)
    assert len({frame % 10 for frame in drawn}) == 8


def test_an_answer_to_every_object_or_none():
    assert parse_answers({"0": "yes", "1": "no"}, 2) == [True, False]
    assert parse_answers({"0": "yes"}, 2) is None
    assert parse_answers({"0": "yes", "1": "maybe"}, 2) is None
    assert seen_by_most([[True, True], [True, False], [False, False]], 2) == [True, False]
    assert seen_by_most([[True], [False]], 1) == [False]


def test_the_published_study_gives_its_published_numbers():
    """761 objects, 667 seen; of 94: 45 hallucinations, 13 misclassified, 20 visible, 8 attributes, 8 other: 6 %."""
    counts = {"hallucination": 45, "misclassification": 13, "mistake": 20, "attribute": 8, "other": 8}
    classes = ["", *[name for name, n in counts.items() for _ in range(n)]]
    objects = [
        CheckedObject(1, k % 100, k % 100, k // 100, "thing", k < 667, classes[max(0, k - 666)]) for k in range(761)
    ]
    report = compute(objects)
    row = report["overall"]
    assert (row["n_frames"], row["n_objects"], row["n_visible"], row["n_unseen"], row["n_unclassed"]) == (
        100,
        761,
        667,
        94,
        0,
    )
    assert round(100 * row["visible"], 1) == 87.6
    assert round(100 * row["hallucination_rate"]) == 6
    assert row["visible_ci"][0] < row["visible"] < row["visible_ci"][1]
    assert {each["class"]: each["n"] for each in report["classes"]} == counts
    assert sum(each["share_of_unseen"] for each in report["classes"]) == pytest.approx(1)


def test_a_frame_is_the_one_on_screen_and_its_picture_is_the_same_twice(tmp_path: Path):
    frames = [np.full((48, 64, 3), 10 * k, np.uint8) for k in range(20)]
    write_mp4(tmp_path / "steps.mp4", frames, 10.0)
    assert abs(int(frame_at(tmp_path / "steps.mp4", 1.23)[0, 0, 0]) - 120) <= 6
    picture = jpeg(frame_at(tmp_path / "steps.mp4", 0.5))
    assert picture[:2] == b"\xff\xd8"
    assert picture == jpeg(frame_at(tmp_path / "steps.mp4", 0.5))


@pytest.fixture
def videos(world: World, tmp_path: Path) -> list[Video]:
    """Three clips with a file of twelve frames, one without."""
    write_mp4(tmp_path / "clip.mp4", [np.full((32, 32, 3), 20 * k, np.uint8) for k in range(12)], 12.0)
    found = []
    for name in ("v1", "v2", "v3"):
        video = factories.make_video(world.project, key=name, duration=1.0, n_frames=12)
        video.file.save(f"{name}.mp4", ContentFile((tmp_path / "clip.mp4").read_bytes()))
        found.append(video)
    return [*found, factories.make_video(world.project, key="v4", media_state="missing")]


def lines(*rows: tuple[str, float | None, list[str]]) -> list[str]:
    return [json.dumps({"video": video, "time": time, "objects": names}) for video, time, names in rows]


def opened(world: World, *rows: tuple[str, float | None, list[str]], **options):
    import_objects(world.owner, world.project, lines(*rows), name="objects.jsonl")
    check = open_object_check(world.owner, world.project, "import", **options)
    run_jobs()
    return check


def run_jobs() -> None:
    from foilworks.core.jobs.models import Job

    for job in Job.objects.filter(state="waiting"):
        execute(str(job.pk))
        job.refresh_from_db()
        assert job.state == "done", job.error


def look(world: World, name: str, *answers: str):
    work = world.claim(name, Stage.OBJECTS)
    sent = {str(place): answer for place, answer in enumerate(answers)}
    return submit_objects(getattr(world, name), work.token, new_key(), sent, seconds=4)


def test_a_file_is_imported_as_a_whole_or_not_at_all(world, videos):
    with pytest.raises(AnnotationError, match=r"o\.jsonl:2: video: .*'v9'"):
        import_objects(world.owner, world.project, lines(("v1", 0, ["a"]), ("v9", 0, ["b"])), name="o.jsonl")
    assert not FrameObjects.objects.exists()
    for _ in range(2):
        found = lines(("v1", 0, ["a"]), ("v1", 0.5, ["b"]), ("v2", 0, ["c"]))
        assert import_objects(world.owner, world.project, found, name="o.jsonl") == 3
    assert FrameObjects.objects.count() == 3
    with pytest.raises(AccessDenied):
        import_objects(world.ann, world.project, lines(("v1", 0, ["a"])), name="o.jsonl")


def test_the_command_imports_and_says_what_is_wrong(world, videos, tmp_path, capsys):
    path = tmp_path / "objects.jsonl"
    path.write_text("\n".join(lines(("v1", 0.1, ["a"]))), encoding="utf-8")
    call_command("objects", str(path), "--project", world.project.slug, "--source", "llava")
    assert FrameObjects.objects.get().source == "llava"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit):
        call_command("objects", str(path), "--project", world.project.slug)
    assert f"{path}:1: video: is missing" in capsys.readouterr().err


def test_the_nouns_of_captions_are_objects_too(world, videos):
    factories.make_caption(videos[0], "a man folds a red shirt.")
    factories.make_caption(videos[0], "a man stands beside a table.")
    for _ in range(2):
        ask_for_nouns(world.owner, world.project)
        run_jobs()
    assert [row.objects_named for row in FrameObjects.objects.all()] == [["man", "shirt", "table"]]
    check = open_object_check(world.owner, world.project, "captions")
    assert 0 <= check.frames.get().time < 1.0


def test_frames_get_their_pictures_once_and_a_broken_one_says_why(world, videos):
    rows = [("v1", 0.4, ["table"]), ("v2", 30.0, ["lamp"]), ("v4", 0.1, ["dog"])]
    check = opened(world, *rows)
    states = dict(check.frames.values_list("video__key", "state"))
    assert states == {"v1": "ready", "v2": "broken"}
    broken = check.frames.get(state="broken")
    assert "30" in broken.error
    assert str(settings.MEDIA_ROOT) not in broken.error
    assert Task.objects.filter(stage=Stage.OBJECTS).count() == 1
    before = check.frames.get(state="ready").image.name
    from annotation.jobs import pictures_of_frames
    from foilworks.core.jobs.models import Job

    job = Job.objects.get()
    job.state = "running"
    job.save()
    pictures_of_frames(check.pk, job)
    assert Task.objects.filter(stage=Stage.OBJECTS).count() == 1
    assert check.frames.get(state="ready").image.name == before


def test_answers_classes_and_the_report(world, videos):
    check = opened(world, ("v1", 0.4, ["table", "lamp"]), ("v2", 0.4, ["dog"]))
    first = look(world, "ann", *(["yes", "no"] if _first_has_two(world) else ["no"]))
    look(world, "ann", *(["no"] if len(first.visible) == 2 else ["yes", "no"]))
    assert world.claim("ann", Stage.OBJECTS) is None
    unseen = []
    while found := next_unseen(check):
        unseen.append(found.name)
        classify_object(world.owner, world.project, found.frame.pk, found.place, "hallucination")
    assert sorted(unseen) == ["dog", "lamp"]
    report = project_report(world.project, "objects")
    assert (report["overall"]["n_objects"], report["overall"]["n_visible"]) == (3, 1)
    assert report["overall"]["hallucination_rate"] == pytest.approx(2 / 3)
    assert broken_invariants() == []


def _first_has_two(world: World) -> bool:
    work = world.claim("ann", Stage.OBJECTS)
    return len(CheckedFrame.objects.get(tasks__pk=work.task_id).objects_named) == 2


def test_a_submit_is_stored_once_can_be_undone_and_never_twice_by_one_person(world, videos):
    opened(world, ("v1", 0.4, ["table"]), overlap=2)
    work = world.claim("ann", Stage.OBJECTS)
    first = submit_objects(world.ann, work.token, "k", {"0": "yes"})
    assert submit_objects(world.ann, work.token, "k", {"0": "no"}).pk == first.pk
    assert world.claim("ann", Stage.OBJECTS) is None
    back = undo_objects(world.ann, first.pk)
    assert undo_objects(world.ann, first.pk).token == back.token
    submit_objects(world.ann, back.token, "k2", {"0": "no"})
    look(world, "abe", "yes")
    assert [answer.visible for answer in ObjectAnswer.objects.filter(undone_at=None)] == [[False], [True]]
    assert Task.objects.get().state == "done"
    assert broken_invariants() == []


def test_only_what_was_looked_for_and_not_seen_is_classed(world, videos):
    check = opened(world, ("v1", 0.4, ["table", "lamp"]))
    frame = check.frames.get()
    with pytest.raises(AnnotationError):
        classify_object(world.owner, world.project, frame.pk, 1, "other")
    answer = look(world, "ann", "yes", "no")
    for place, word in ((0, "other"), (5, "other"), (1, "nonsense")):
        with pytest.raises(AnnotationError):
            classify_object(world.owner, world.project, frame.pk, place, word)
    with pytest.raises(AccessDenied):
        classify_object(world.ann, world.project, frame.pk, 1, "other")
    classify_object(world.owner, world.project, frame.pk, 1, "other")
    classify_object(world.owner, world.project, frame.pk, 1, "attribute")
    assert ObjectError.objects.get().error_class == "attribute"
    with pytest.raises(AnnotationError):
        undo_objects(world.ann, answer.pk)


def test_an_answer_must_be_whole(world, videos):
    opened(world, ("v1", 0.4, ["table", "lamp"]))
    with pytest.raises(AnnotationError):
        look(world, "ann", "yes")
    assert not ObjectAnswer.objects.exists()


def test_the_picture_is_for_members_and_of_its_project(world, videos):
    frame = opened(world, ("v1", 0.4, ["table"])).frames.get()
    elsewhere = make_world()
    image = reverse("annotation:frame_image", args=[world.project.slug, frame.pk])

    def status(person, url=image) -> int:
        client = Client()
        client.force_login(person)
        response = client.get(url)
        if response.streaming:
            assert response.headers["Content-Type"] == "image/jpeg"
            assert b"".join(response.streaming_content)[:2] == b"\xff\xd8"
        return response.status_code

    assert [status(person) for person in (world.ann, world.vera, elsewhere.ann)] == [200, 200, 404]
    assert status(elsewhere.ann, reverse("annotation:frame_image", args=[elsewhere.project.slug, frame.pk])) == 404
