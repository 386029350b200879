"""Items of two clips through the product: import, validation, release, scores, pages, export."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.actions.decisions.items import retract
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Stage
from evaluation.board.latex import as_csv, as_json, latex, markdown
from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.metrics.two_clips import SHARES
from evaluation.releases.actions.freeze_release import HALVES, freeze_release
from evaluation.releases.freezable import freezable, left_out
from evaluation.score_files.score_writers import WRITERS
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_scores, run_results, two_clip_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats import foilworks, winoground
from foilworks.core.corpus.import_formats.pair_sets import VINOGROUND, WINOGROUND
from foilworks.core.corpus.models import Item, Video
from foilworks.core.corpus.records import BadRecord, ItemRecord
from foilworks.core.corpus.rules.two_clips import pairs_of
from foilworks.core.jobs.runner import run_now
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.records import project_content, release_content
from foilworks.site.exports.verify import verify
from foilworks.site.imports.store import import_records
from tests.annotation.world import make_world, new_key
from tests.pages import read_page

pytestmark = pytest.mark.django_db
TEXTS = [
    ("a dog bites a man", "a man bites a dog"),
    ("a cat on a hat", "a hat on a cat"),
    ("red by blue", "blue by red"),
]
EXAMPLES = [
    {"id": k, "caption_0": a, "caption_1": b, "image_0": f"ex_{k}_0", "image_1": f"ex_{k}_1", "tag": "Noun"}
    for k, (a, b) in enumerate(TEXTS)
]
# All right; text alone; nothing.
FOUR = [(4.0, 1.0, 2.0, 3.0), (2.0, 1.0, 8.0, 9.0), (1.0, 4.0, 3.0, 2.0)]


def halves(pair="p", subtest="order", **other):
    one = {"id": f"{pair}-a", "video": f"{pair}-a.mp4", "caption": f"{pair} left.", "foil": f"{pair} right."}
    two = {"id": f"{pair}-b", "video": f"{pair}-b.mp4", "caption": f"{pair} right.", "foil": f"{pair} left."}
    shared = {"pair": pair, "subtest": subtest}
    return [{**one, **shared}, {**two, **shared, **other}]


@pytest.fixture
def world():
    return make_world({"blind_bar": 1.0})


@pytest.fixture
def bring(world, tmp_path):
    def go(*records, form="jsonl", **options):
        path = tmp_path / f"{form}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        return import_records(world.project, None, form, path, **options).as_json()

    return go


@pytest.fixture
def release(world, bring):
    bring(*EXAMPLES, form="winoground", as_published=True)
    return freeze_release(None, world.project)


def scored(release, path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    run = start_run(None, release, RunRequest(f"file:{path}"))
    run_now(run.job)
    return Run.objects.get(pk=run.pk)


def wide(rows=FOUR):
    return [{"id": str(k), "c0_i0": a, "c1_i0": b, "c0_i1": c, "c1_i1": d} for k, (a, b, c, d) in enumerate(rows)]


def test_published_examples_become_two_items_each_and_come_back(bring, world, tmp_path):
    found = bring(*EXAMPLES, form="winoground", as_published=True)
    assert (found["created"]["items"], found["pairs"], found["errors"], found["as_published"]) == (6, 3, [], 6)
    item = Item.objects.get(key="winoground:0_1")
    assert (item.pair, item.caption.text, item.foils.get().text, item.video.source_id) == (
        "0",
        *TEXTS[0][::-1],
        "ex_0_1",
    )
    winoground.write(project_content(world.project), tmp_path / "out", params={})
    written = (tmp_path / "out" / "winoground.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == EXAMPLES
    assert bring(*EXAMPLES, form="winoground", as_published=True)["same"] == 6


def test_a_row_of_vinoground_is_a_clip_with_its_caption_and_its_counterpart(tmp_path):
    path = tmp_path / "vinoground.csv"
    path.write_text("index,major,minor,pos_cap,neg_cap\n7,action,human;cyclical,he eats,he drinks\n8,object,,,b\n")
    one, other, bad = VINOGROUND.read(path, params={})
    assert isinstance(bad, BadRecord)
    assert (one.id, one.pair, one.video.file, one.caption, one.foils) == (
        "action:7_pos",
        "7",
        "7_pos.mp4",
        "he eats",
        ("he drinks",),
    )
    assert (other.id, other.caption, other.foils, other.video.source_id) == (
        "action:7_neg",
        "he drinks",
        ("he eats",),
        "7_neg",
    )
    assert (one.subtest, one.test, one.extra["minor"]) == ("action", "vinoground", "human;cyclical")


def test_an_example_without_an_image_is_bad_as_a_whole(tmp_path):
    path = tmp_path / "examples.jsonl"
    path.write_text(json.dumps({**EXAMPLES[0], "image_1": ""}) + "\n" + json.dumps(EXAMPLES[1]) + "\n")
    bad, *good = WINOGROUND.read(path, params={})
    assert isinstance(bad, BadRecord)
    assert [one.id for one in good if isinstance(one, ItemRecord)] == ["examples:1_0", "examples:1_1"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"caption": "p up."}, "caption of one is not the foil of the other"),
        ({"video": "p-a.mp4"}, "two items of the same clip"),
        ({"foil": None, "foils": ["p left.", "p up."]}, "needs exactly one foil, not 2"),
    ],
)
def test_an_item_that_does_not_fit_its_pair_is_refused(bring, change, problem):
    first, second = halves()
    found = bring(first, {**second, **change})
    assert found["created"]["items"] == 1
    assert problem in found["errors"][0]
    assert "1 pairs have one item only ('p')" in found["warnings"][-1]


def test_a_pair_may_come_in_two_files_and_has_no_third_item(bring):
    first, second = halves()
    assert bring(first)["pairs"] == 0
    found = bring(second)
    assert (found["pairs"], found["errors"], found["warnings"]) == (1, [], [])
    third = {**second, "id": "p-c", "video": "p-c.mp4"}
    assert "has two items already (p-a, p-b)" in bring(third)["errors"][0]
    assert bring({**first, "pair": ""}, update=True)["updated"] == 1
    assert Item.objects.get(key="p-a").pair == ""


def test_a_release_takes_both_items_of_a_pair_or_none(bring, world, client):
    bring(*halves("p"), *halves("q"), as_published=True)
    assert freeze_release(None, world.project).n_items == 4
    retract(world.owner, Item.objects.get(key="q-b").pk, "the clip shows something else")
    (row,) = [row for row in freezable(world.project) if row.name == "order"]
    assert (row.n_valid, row.n_as_published, left_out([row])) == (2, 2, "1 whose other clip has no valid item")
    client.force_login(world.owner)
    page = client.get(reverse("releases:freeze", args=[world.project.slug])).content.decode()
    assert "1 whose other clip has no valid item" in page
    out = StringIO()
    call_command("release", project=world.project.slug, name="second", json=True, stdout=out)
    told = json.loads(out.getvalue())
    assert (told["n_items"], told[HALVES]) == (2, ["order:q-a"])
    retract(world.owner, Item.objects.get(key="p-a").pk, "the clip shows something else")
    with pytest.raises(EvaluationError, match="half of a pair"):
        freeze_release(None, world.project)


def test_a_corrected_caption_parts_a_pair(bring, world):
    bring(*halves("p"), *halves("q"), as_published=True)
    caption = Item.objects.get(key="q-a").caption
    caption.text = "q far left."
    caption.save()
    release = freeze_release(None, world.project)
    assert pairs_of([member.record for member in release.members.all()]) == [("p", "order:p-a", "order:p-b")]
    assert sorted(release.gate.data[HALVES]) == ["order:q-a", "order:q-b"]


@pytest.mark.parametrize("labelled", [False, True])
def test_a_published_score_file_gives_text_video_and_group(release, tmp_path, labelled):
    records = wide()
    if labelled:
        records = [
            {"label": f"{row['id']}_{cell}", "score": row[cell]} for row in records for cell in row if cell != "id"
        ]
    run = scored(release, tmp_path / "clip.jsonl", records)
    found = run_results(run, draws=50)
    assert found["missing"] == []
    pairs = found["two_clips"]
    assert (pairs["tie_policy"], pairs["scores"], pairs["incomplete"]) == ("half", "absolute", 0)
    overall = pairs["overall"]
    assert [overall[name] for name in ("text", "video", "group", "n")] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 3])
    assert overall["chance"] == {"text": 1 / 4, "video": 1 / 4, "group": 1 / 6}
    # Each item counts in T by itself.
    assert found["overall"]["T"] == pytest.approx(4 / 6)
    written = [json.loads(line) for line in WRITERS["winoground"][2](release_scores(run)[0]).splitlines()]
    assert [{name: value for name, value in row.items() if name != "subtest"} for row in written] == wide()


def test_scores_of_one_clip_are_counted_as_incomplete(release, tmp_path):
    one = [{"id": "winoground:0_0", "caption": 2.0, "foils": [1.0]}]
    found = run_results(scored(release, tmp_path / "half.jsonl", one), draws=20)["two_clips"]
    assert (found["overall"], found["incomplete"]) == (None, 1)


def test_answers_have_a_text_score_alone(release, tmp_path):
    path = tmp_path / "answers.csv"
    rows = [f"winoground:{k}_{i},{int((k, i) == (1, 1))}" for k in range(3) for i in (0, 1)]
    path.write_text("id,prediction\n" + "\n".join(rows) + "\n")
    run = start_run(None, release, RunRequest(f"file:{path}"))
    run_now(run.job)
    overall = run_results(Run.objects.get(pk=run.pk), draws=20)["two_clips"]["overall"]
    assert (overall["text"], overall["video"], overall["group"]) == (pytest.approx(2 / 3), None, None)


def test_shares_of_a_choice_get_their_own_chance(release, tmp_path):
    rows, _missing = release_scores(scored(release, tmp_path / "clip.jsonl", wide()))
    found = two_clip_results(rows, "half", 20, winners=False, shares=True)
    assert (found["scores"], found["overall"]["chance"]["video"]) == (SHARES, 0.5)


def test_boards_pages_and_the_export_show_the_scores(release, world, client, tmp_path):
    run = scored(release, tmp_path / "clip.jsonl", wide())
    shown = board(release)
    assert shown.columns == ["T", "Text", "Video", "Group"]
    assert json.loads(as_json(shown))["models"][0]["Group"] == pytest.approx(1 / 3)
    assert as_csv(shown).splitlines()[0].endswith("Group,Group_low,Group_high,chance_Group")
    assert "16.7" in latex(shown)
    assert "| Group |" in markdown(shown)
    client.force_login(world.owner)
    slug = world.project.slug
    read_page(client.get(reverse("scoring:run", args=[slug, run.pk]))).check("Group score", "16.7")
    assert client.get(reverse("scoring:run_scores", args=[slug, run.pk, "winoground"])).status_code == 200
    assert b"two clips,overall" in client.get(reverse("scoring:run_file", args=[slug, run.pk, "csv"])).content
    table = client.get(reverse("board:leaderboard", args=[slug, release.pk])).content.decode()
    assert 'href="?column=T&amp;scope=overall&amp;sort=Group"' in table
    foilworks.write(collect_release(release), tmp_path / "out", params={})
    assert verify(tmp_path / "out")["ok"]
    winoground.write(release_content(release), tmp_path / "wino", params={})
    assert len((tmp_path / "wino" / "winoground.jsonl").read_text().splitlines()) == 3


def test_the_item_page_and_the_list_name_the_other_clip(bring, world, client):
    bring(*halves("p"), halves("q")[0])
    client.force_login(world.owner)
    one, other, single = (Item.objects.get(key=key) for key in ("p-a", "p-b", "q-a"))
    for address in (
        reverse("items:item", args=[world.project.slug, one.pk]),
        reverse("items:items", args=[world.project.slug]),
    ):
        html = client.get(address).content.decode()
        assert f"/items/{other.pk}/" in html
        assert "Other clip of this item" in html
    assert (
        "no item for the other clip"
        in client.get(reverse("items:item", args=[world.project.slug, single.pk])).content.decode()
    )


@pytest.mark.parametrize(("once", "n"), [(True, 2), (False, 4)])
def test_a_validator_sees_one_clip_of_a_pair(bring, world, once, n):
    world.project.judge_caption_once = once
    world.project.save()
    bring(*halves("p"), *halves("q"))
    Video.objects.update(media_state="elsewhere", url="https://clips.example/x.mp4", duration=4.0)
    make_tasks(world.project)
    seen = []
    while (work := world.claim("vera", Stage.VALIDATION)) and len(seen) < 9:
        seen.append(Item.objects.get(tasks=work.task_id).pair)
        submit_vote(world.vera, work.token, new_key(), "first")
    assert len(seen) == n
    assert len(set(seen)) == 2
    assert world.claim("vic", Stage.VALIDATION) is not None
