"""The pages of UTD: what they show of a measured run, in how many queries, and what they say of bad input."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.utd.ablation import ablation_rows
from evaluation.utd.models import (
    BenchmarkedModel,
    BiasRun,
    Descriptions,
    FrameText,
    ItemCheck,
    ItemShortcut,
    ShortcutBar,
    TextSource,
)
from evaluation.utd.predictions import read_predictions
from evaluation.utd.shortcuts import summary
from foilworks.core.corpus.models import Item, Subtest, Video
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import execute
from foilworks.core.projects.models import Role
from tests.addresses import named
from tests.evaluation.utd import texts
from tests.factories import make_item, make_member, make_project, make_subtest
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def owned(tmp_path, client):
    project, told = texts.described("things", tmp_path)
    client.force_login(make_member(project, Role.RESEARCHER, name="owner"))
    return project, told


@pytest.fixture
def run(owned):
    return texts.measured(owned[1], name="direction")


def page(client, name, *args):
    response = client.get(reverse(named(name), args=["things", *args]))
    assert response.status_code == 200
    return response.content.decode()


def sent(text, name="m.csv"):
    return SimpleUploadedFile(name, text.encode())


def test_an_empty_project_says_what_to_do(client):
    project = make_project(slug="things")
    client.force_login(make_member(project, Role.RESEARCHER))
    assert "No descriptions yet" in page(client, "bias")
    assert "Nothing to compare yet" in page(client, "bias_ablation")
    assert "No descriptions yet" in page(client, "bias_items")


def test_the_tables_of_a_run_in_a_fixed_number_of_queries(client, run, django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        html = page(client, "bias_run", run.pk)
    for words in ("obj+comp+act", "max-score frame", "Dataset bias", "The gain from training", "fake/words@1"):
        assert words in html
    # Objects go with a way by what stands beside them: the whole 16 cells twice, with differences and intervals.
    assert html.count('class="ci"') >= 32
    assert "down-3" in html


@pytest.mark.parametrize(("task", "told"), [("classification", True), ("retrieval", False)])
def test_the_counting_of_frames_is_explained_if_it_changes_a_number(client, run, task, told):
    """In retrieval `oracle` changes none."""
    run.task, run.params = task, {**run.params, "max_reading": "oracle"}
    run.save()
    assert ("counts a sample as correct if any frame is correct" in page(client, "bias_run", run.pk)) is told


def test_the_split_its_figures_and_files(client, run, tmp_path, django_assert_max_num_queries):
    facts = run.result["split"]
    assert 0 < facts["n_biased"] < facts["n"]
    with django_assert_max_num_queries(8):
        html = page(client, "bias_split", run.pk)
    read_page(html).check("Fleiss' kappa", f"{facts['n_biased']} of {facts['n']} samples")
    files = {}
    for name in ("splits.json", "predictions.csv", "tables.csv", "tables.json", "classes.svg"):
        what, extension = name.split(".")
        answer = client.get(reverse("utd:bias_download", args=["things", run.pk, what, extension]))
        assert answer.status_code == 200
        files[what, extension] = answer.content
    splits = json.loads(files["splits", "json"])
    assert set(splits["full"]) - set(splits["debiased"]) == set(facts["removed"])
    assert len(splits["debiased-balanced"]) == len(splits["debiased"])
    assert len(list(csv.DictReader(io.StringIO(files["tables", "csv"].decode())))) == 32
    assert b"UTD-split" in files["classes", "svg"]
    path = tmp_path / "nine.csv"
    path.write_bytes(files["predictions", "csv"])
    again = read_predictions(path)
    made = again.split()
    assert again.ids_at(made.removed) == facts["removed"]
    assert again.ids_at(made.removed_balanced) == facts["removed_balanced"]
    assert made.kappa == facts["kappa"]


def test_models_are_compared_on_the_splits(client, run):
    ids, removed = run.predictions["ids"], set(run.result["split"]["removed"])
    leaning = "".join(f"{name},{int(name in removed)}\n" for name in ids)
    # Right where nothing is given away, but for one.
    kept = [name for name in ids if name not in removed]
    steady = "".join(f"{name},{int(name in kept[1:])}\n" for name in ids)
    url = reverse("utd:bias_models", args=["things", run.pk])
    for name, rows in (("leaning", leaning), ("steady", steady)):
        assert client.post(url, {"file": sent(f"video_id,acc_top1\n{rows}", f"{name}.csv")}).status_code == 302
    html = page(client, "bias_models", run.pk)
    assert "<strong>leaning</strong> ranks higher on the full set" in html
    assert html.index("<li>steady") < html.index("<li>leaning")
    assert CachedResult.objects.filter(kind="utd-benchmark").count() == 1
    renamed = {"file": sent(f"clip,acc_top1\n{steady}", "renamed.csv"), "columns": "id=clip"}
    assert client.post(url, renamed).status_code == 302
    assert BenchmarkedModel.objects.get(label="renamed").right == BenchmarkedModel.objects.get(label="steady").right
    bad = client.post(url, {"file": sent("video_id,acc_top1\nx,0.5\n")})
    assert bad.status_code == 422
    assert "m.csv:2: acc_top1: is" in bad.content.decode()
    strange = client.post(url, {"file": sent("video_id,acc_top1\nx,1\n")})
    assert "none of its samples is in this run" in strange.content.decode()
    assert BenchmarkedModel.objects.count() == 3


def test_splits_and_predictions_are_imported_without_descriptions(client, owned):
    url = reverse("utd:bias_splits", args=["things"])
    splits = {"full": ["a", "b", "c"], "debiased": ["c"], "debiased-balanced": ["b"]}
    assert client.post(url, {"file": sent(json.dumps(splits), "s.json")}).status_code == 302
    brought = BiasRun.objects.get()
    assert brought.result["split"]["removed"] == ["a", "b"]
    assert "33.3" in page(client, "bias_split", brought.pk)
    answer = client.get(reverse("utd:bias_download", args=["things", brought.pk, "splits", "json"]))
    assert json.loads(answer.content) == splits
    bad = client.post(url, {"file": sent('{"full": ["a"], "debiased": ["b"]}', "s.json")})
    assert "which is not in full" in bad.content.decode()


def test_descriptions_frame_by_frame_and_in_a_file(client, owned, django_assert_max_num_queries):
    told = Descriptions.objects.get()
    with django_assert_max_num_queries(12):
        html = page(client, "bias_descriptions", told.pk)
    read_page(html).check("Something is moving at the left.", "file:descriptions.json")
    # A model is told by its name; it has no hash of a file.
    TextSource.objects.update(spec="vlm:lab/tells", settings={"model": "lab/tells@1", "frames": 8})
    assert "lab/tells@1" in page(client, "bias_descriptions", told.pk)
    url = reverse("utd:bias_files", args=["things"])
    for text, problem in (
        ("{", "JSON"),
        ('{"x": {"smells": ["a"]}}', "is not a concept"),
        ('{"x": {"objects": ["a"]}}', "no video of this project"),
    ):
        answer = client.post(url, {"file": sent(text, "d.json")})
        assert answer.status_code == 422
        assert problem in answer.content.decode()
    assert "not opened" in client.post(url, {"file": sent("x", "d.pickle")}).content.decode()


def test_runs_on_the_same_samples_are_compared(client, owned, run):
    texts.measured(owned[1], name="again")
    texts.measured(owned[1], name="captions", task="retrieval")
    html = page(client, "bias_ablation")
    assert html.count('class="table utd"') == 2
    assert html.rindex("direction</a>") < html.rindex("again</a>") < html.rindex(">captions</a>")
    assert "3" in page(client, "bias")


@pytest.mark.parametrize("splits", [True, False])
def test_answers_of_an_image_text_model_cover_the_samples_of_the_run(client, owned, splits):
    project, told = owned
    # Twelve samples of two source videos, of which the model has all of the first right.
    for video in project.videos.all():
        project.videos.filter(pk=video.pk).update(source_dataset="d", source_id=video.key.split("-")[1])
    run = texts.measured(told)
    right = {name: float("-0-" in name) for name in run.predictions["ids"]}
    if not splits:
        BiasRun.objects.update(predictions=None)
    later = {f"came later {number}": 1.0 for number in range(6)}
    model = BenchmarkedModel.objects.create(
        run=run, label="looks", source="zero-shot:fake:", right={**right, **later}, scored_at=timezone.now()
    )
    row = ablation_rows(project)[0]["rows"][-1]
    assert row == {"model": model, "value": 0.5, "ci": [0.0, 1.0], "n": 12}
    assert page(client, "bias_ablation").count("12 samples") == 1
    BenchmarkedModel.objects.update(right={name: value for name, value in right.items() if value})
    assert "6 samples" in page(client, "bias_ablation")
    if not splits:
        FrameText.objects.all().delete()
        assert ablation_rows(project)[0]["rows"][-1] == {"model": model, "value": None, "ci": None, "n": 0}
        assert "0 samples" in page(client, "bias_ablation")


class TestShortcuts:
    @pytest.fixture
    def items(self, owned):
        """An item of the thing, which objects tell, and one of the way, which they do not."""
        project, _ = owned
        subtest = make_subtest(project, name="mixed")
        made = {}
        for caption in [video.captions.get() for video in project.videos.filter(split="test").order_by("pk")[:2]]:
            other = caption.text.replace("cup", "ball")
            made[caption.text, "thing"] = make_item(subtest, caption, (other,), state="valid")
            turned = " ".join(reversed(caption.text.split(" moves ")[1].split()))
            made[caption.text, "way"] = make_item(subtest, caption, (f"a cup moves {turned}",), state="valid")
        return made

    def check(self, client, told):
        url = reverse("utd:bias_items", args=["things"])
        asked = {"descriptions": told.pk, "encoder": "fake-words:", "device": "auto"}
        assert client.post(url, asked).status_code == 302
        execute(str(Job.objects.latest("created_at").pk))
        return ItemCheck.objects.latest("pk")

    def test_items_that_objects_answer_are_marked_in_the_list(self, client, owned, items):
        found = self.check(client, owned[1])
        things = {item.pk for (_, kind), item in items.items() if kind == "thing"}
        assert {row.item_id for row in found.found.all() if row.by_objects} >= things
        html = page(client, "bias_items")
        assert "all nine correct" in html
        listed = client.get(reverse("items:items", args=["things"]), {"shortcut": "objects"}).content.decode()
        assert "solved from objects alone" in listed

    def test_intervals_are_over_source_videos(self, owned):
        """Four items of two videos, alike within each: two draws, not four. Of one video nothing can be said."""
        project, told = owned
        check = ItemCheck.objects.create(descriptions=told, encoder="fake-words:", checked_at=timezone.now())
        clips = list(project.videos.order_by("pk")[:3])
        for name, some in (("two", [clips[0], clips[0], clips[1], clips[1]]), ("one", [clips[2], clips[2]])):
            subtest = make_subtest(project, name=name)
            for at, clip in enumerate(some):
                item = make_item(subtest, clip.captions.get())
                objects = 9 * (clip == clips[0]) if name == "two" else 9 * at
                ItemShortcut.objects.create(check_of=check, item=item, objects_right=objects, frame_right=objects == 0)
        one, two, both = summary(check)
        assert (one["name"], one["n"], one["share"], one["share_ci"], one["frame_ci"]) == ("one", 2, 0.5, None, None)
        assert (two["n"], two["right"], two["wrong"], two["frame"]) == (4, 2, 2, 2)
        assert (two["share_ci"], two["frame_ci"]) == ([0.0, 1.0], [0.0, 1.0])
        assert (both["name"], both["n"], both["share"], both["frame_share"]) == ("", 6, 0.5, 0.5)

    def test_a_limit_stops_a_release(self, client, owned, items):
        url = reverse("utd:bias_bar", args=["things"])
        assert client.post(url, {"share": "2"}).status_code == 422
        assert client.post(url, {"share": "0.1"}).status_code == 302
        freeze = reverse("releases:freeze", args=["things"])
        assert "are not checked" in client.post(freeze, {"name": "r"}).content.decode()
        self.check(client, owned[1])
        assert "Object lists alone answer" in client.post(freeze, {"name": "r"}).content.decode()
        client.post(url, {"share": ""})
        assert not ShortcutBar.objects.exists()
        assert client.post(freeze, {"name": "r"}).status_code == 302

    def test_a_check_of_different_texts_does_not_count_for_an_item(self, client, owned):
        """Objects do not tell the caption from its foil of the way, and do once that one dropped out."""
        project, told = owned
        caption = project.videos.filter(split="test").order_by("pk")[0].captions.get()
        turned = " ".join(reversed(caption.text.split(" moves ")[1].split()))
        foils = (caption.text.replace("cup", "ball"), f"a cup moves {turned}")
        subtest = make_subtest(project, valid_when=Subtest.ValidWhen.ENOUGH, foils_per_item=2)
        item = make_item(subtest, caption, foils, state=ItemState.IN_VALIDATION)
        ShortcutBar.objects.create(project=project, share=0.1)
        assert not self.check(client, told).found.get().by_objects
        item.foils.filter(position=1).update(verdict=FoilVerdict.INVALID)
        Item.objects.filter(pk=item.pk).update(state=ItemState.VALID)
        with pytest.raises(EvaluationError, match="1 items are not checked with their current texts"):
            freeze_release(None, project)
        assert self.check(client, told).found.get().by_objects
        with pytest.raises(EvaluationError, match="Object lists alone answer"):
            freeze_release(None, project)


def test_descriptions_are_queued_or_refused(client, owned):
    url = reverse("utd:bias_describe", args=["things"])
    good = {"recipe": "demo", "frames": "8", "device": "auto"}
    videos = Video.objects.filter(project=owned[0])
    videos.update(file="", media_state="missing")
    assert "None of the 24 videos has a file yet." in client.get(url).content.decode()
    videos.update(file="clip.mp4", media_state="ready")
    assert client.post(url, good).status_code == 302
    assert Descriptions.objects.latest("pk").describer == "fake-generator:"
    for change, problem in (
        ({"describer": "vlm:/etc"}, "neither a model of this project nor a shared one"),
        ({"extractor": "endpoint:nowhere"}, "there is no endpoint"),
        ({"frames": "99"}, "less than or equal to 64"),
    ):
        answer = client.post(url, {**good, **change})
        assert answer.status_code == 422
        assert problem in answer.content.decode()
