"""The tables of (Feint6K, Tables 1 and 2) from a project's own runs and trainings, by one command."""

import json

import pytest
from django.core.management import call_command

from annotation.models import Choice, Stage, Vote
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import ModelCard, Run
from evaluation.scoring.queries import run_results
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.standard_results import standard_of
from foilworks.core.corpus.models import Item, Video
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.paper_rows import TABLE_1, TABLE_2
from foilworks.site.teacher.readings import EvaluationResult
from foilworks.site.teacher.sources import held_out_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def result(release, ranks) -> EvaluationResult:
    """Every item's caption has one of the ranks in turn; every other clip is retrieved."""
    held, _, _ = held_out_of(release)
    scores = []
    for at, texts in enumerate(held.texts):
        better = ranks[at % len(ranks)] - 1
        scores.append((0.5, *(0.9 if place < better else 0.1 for place in range(len(texts) - 1))))
    clips = len(held.captions)
    clusters = tuple(held.sources[at] for at in held.clips)
    above = tuple(at % 2 for at in range(clips))
    return EvaluationResult(
        held.ids, clusters, held.kinds, tuple(scores), held.sources, above, (0,) * clips, len(set(held.captions))
    )


def trained(shapes, label, ranks, *, seed=0, student="tiny:/models/start", method="mask_fill", **params):
    given = {"contrastive": 1.0, "lbl": 0.0, "lgt": 0.0, "actions": 10, "objects": 0, **params}
    training = TeacherTraining.objects.create(
        project=shapes.project,
        label=label,
        student=student,
        params=given,
        seed=seed,
        sources={"runs": [{"run": 1, "method": method}]},
        model_spec="tiny:/models/taught",
    )
    before, after = (result(shapes.release, each).plain() for each in ((2,), ranks))
    StudentEvaluation.objects.create(training=training, release=shapes.release, before=before, after=after)
    return training


def written(shapes, capsys, *more):
    call_command("feint6k-tables", "--project", shapes.project.slug, "--release", str(shapes.release.pk), *more)
    return capsys.readouterr().out


def line_of(text, name, after=""):
    rest = text.partition(after)[2] if after else text
    line = next(line for line in rest.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_without_a_model_the_papers_rows_say_not_here(shapes, capsys):
    text = written(shapes, capsys)
    for row in (*TABLE_1, *TABLE_2.values()):
        assert f"| {row.name} |" in text
    assert line_of(text, "CLIP") == ["not here"] * 4
    assert line_of(text, "Random")[:2] == ["25.0", "16.7"]
    assert "The paper's label of the third row is “5 object + 5 object captions”; its text (Feint6K, Sec. 5.3)" in text
    assert "Captions of LLM-teacher (Feint6K, Table 2): no training here" in text
    assert line_of(written(shapes, capsys, "--with-paper"), "LLM Chatbot") == [
        "not here (87.0)",
        "not here (65.9)",
        "not here (81.8)",
        "not here (1.7)",
    ]


def test_runs_fill_their_rows_with_rcad_and_standard_retrieval(shapes, capsys):
    Video.objects.filter(project=shapes.project).update(source_dataset="MSR-VTT")
    shapes.release = freeze_release(shapes.owner, shapes.project, name="msrvtt")
    run = start_run(None, shapes.release, RunRequest(f"tiny:{shapes.student}", label="clip", standard=True))
    assert run_now(run.job).state == JobState.DONE
    run = Run.objects.get(pk=run.pk)
    ModelCard.objects.filter(model_key=run.model_key).update(adaptation="zero_shot")
    text = written(shapes, capsys, "--with-paper")
    standard = 100 * standard_of(run)["R@1"]
    cells = line_of(text, "CLIP")
    assert cells[0] == f"{standard:.1f} (26.3)"
    assert cells[1].endswith("(37.3)")
    assert "| Model | MSR-VTT R@1 | Counterfactuals (msrvtt) R@1 | R@2 | MeanR |" in text
    assert f"- CLIP, msrvtt: run {run.pk}" in text
    found = json.loads(written(shapes, capsys, "--json"))
    row = next(row for row in found["table_1"] if row["name"] == "CLIP")
    values = row["cells"][str(shapes.release.pk)]["values"]
    # The items that change an object are no counterfactuals: 4 of the 8 items count.
    assert values["R@1"]["n"] == 4
    assert run_results(run)["rcad"]["n"] == 8
    ModelCard.objects.filter(model_key=run.model_key).update(adaptation="")
    text = written(shapes, capsys)
    assert line_of(text, "CLIP") == ["not here"] * 4
    assert "*Adaptation not stated*" in text
    assert line_of(text, "clip", "*Adaptation not stated*")[0] == f"{standard:.1f}"
    text = written(shapes, capsys, "--row", "VideoCLIP=clip")
    assert line_of(text, "VideoCLIP")[0] == f"{standard:.1f}"
    assert "*Adaptation not stated*" not in text


def test_trainings_fill_both_tables_with_their_seeds(shapes, capsys):
    plain = trained(shapes, "plain", (1, 3))
    seeds = [trained(shapes, "soft", (1, 1, 1, 2), seed=seed, lgt=1.0) for seed in (0, 1)]
    trained(shapes, "five", (1, 2), lgt=1.0, actions=5)
    both = trained(shapes, "both", (2,), lgt=1.0, actions=5, objects=5)
    trained(shapes, "chat", (1,), lgt=1.0, method="chat")
    trained(shapes, "mixed", (1,), lgt=1.0, negatives=["people=1"], per_caption=4)
    text = written(shapes, capsys, "--row", "InternVideo=tiny:start")
    zero, tuned = text.split("*Finetuned*")
    tuned, second = tuned.split("## Captions of LLM-teacher")
    assert line_of(zero, "InternVideo") == ["50.0", "0.0", "100.0", "2.0"]
    assert line_of(tuned, "InternVideo") == ["50.0", "50.0", "50.0", "2.0"]
    assert line_of(tuned, "w/ LLM-teacher-lgt", "| InternVideo |") == [
        "50.0 0.0",
        "75.0 ↑25.0",
        "100.0 ↑50.0",
        "1.2 ↓0.8",
    ]
    assert line_of(tuned, "w/ LLM-teacher-lgt", "| SimVTP |") == ["not here"] * 4
    assert f"- InternVideo, held out: training {plain.pk}, seed 0" in tuned
    assert f"held out: training {seeds[0].pk}, seed 0; training {seeds[1].pk}, seed 1" in tuned
    assert line_of(second, "Default (10 action captions; XLM-RoBERTa)") == ["50.0", "75.0", "100.0", "1.2"]
    assert line_of(second, "5 action captions")[1] == "50.0 ↓25.0"
    assert line_of(second, "5 object + 5 object captions")[1] == "0.0 ↓75.0"
    assert f"- 5 object + 5 object captions, held out: training {both.pk}, seed 0" in second
    assert line_of(second, "LLM Chatbot")[1] == "100.0 ↑25.0"
    assert line_of(second, "4 of people=1")[1] == "100.0 ↑25.0"


def test_a_release_without_counterfactuals_has_standard_retrieval_alone(shapes, capsys):
    shapes.project.subtests.filter(pk=shapes.actions.pk).update(changes="")
    Item.objects.filter(subtest=shapes.actions).update(extra={"edited": "object"})
    shapes.release = freeze_release(shapes.owner, shapes.project, name="objects")
    run = start_run(None, shapes.release, RunRequest(f"tiny:{shapes.student}", label="start", standard=True))
    assert run_now(run.job).state == JobState.DONE
    text = written(shapes, capsys)
    assert line_of(text, "start")[1:] == ["–", "–", "–"]
    assert line_of(text, "start")[0] == f"{100 * standard_of(Run.objects.get())['R@1']:.1f}"
    assert "objects: has no item with two foils or more that change no object, so it has no RCAD." in text


def test_a_student_without_a_name_of_the_paper_has_rows_of_its_own(shapes, capsys):
    trained(shapes, "labels", (1,), lbl=1.0)
    trained(shapes, "labels without plain loss", (2,), lbl=1.0, contrastive=0.0)
    tuned = written(shapes, capsys).split("*Finetuned*")[1]
    lines = tuned.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("| tiny:start |"))
    assert lines[at] == "| tiny:start | not here | not here | not here | not here |"
    assert lines[at + 1].startswith("| w/ LLM-teacher-lbl (labels) | 50.0 | 100.0 |")
    assert lines[at + 2].startswith("| w/ LLM-teacher-lbl (labels without plain loss) | 50.0 | 0.0 |")


def test_people_have_a_row_and_latex_has_the_papers_layout(shapes, capsys, tmp_path):
    member = next(one for one in shapes.release.members.all() if len(one.record["foils"]) == 5)
    for number, choice in enumerate((Choice.CAPTION, Choice.CAPTION, Choice.FOIL, Choice.CAPTION)):
        Vote.objects.create(
            item=member.item,
            foil=member.item.foils.first(),
            person=make_user(),
            stage=Stage.BASELINE,
            choice=choice,
            idempotency_key=f"{number}",
            state="counted",
        )
    trained(shapes, "plain", (1, 3))
    trained(shapes, "soft", (1,), lgt=1.0)
    out = tmp_path / "tables.tex"
    assert "both tables, 1 groups of columns" in written(shapes, capsys, "--format", "tex", "--out", str(out))
    text = out.read_text()
    assert r"Human & -- & 75.0 & -- & -- \\" in text
    assert r"\multicolumn{5}{l}{\emph{Zero-Shot}} \\" in text
    assert r" & \multicolumn{3}{c}{Counterfactuals (held out)} \\" in text
    assert r"\cmidrule(lr){3-5}" in text
    assert r"w/ LLM-teacher-lgt & 50.0 0.0 & 100.0 $\uparrow$50.0" in text
    assert "% Human, held out: human baseline, 4 choices" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--row", "CLIP"), "--row CLIP: has no row or no model; write --row CLIP=clip-vit-base-patch32"),
        (("--row", "Clipp=mine"), "the paper has no row 'Clipp'; choose one of: CLIP, VideoCLIP, InternVideo"),
        (("--row", "CLIP=mine"), "no model of these releases has the name 'mine'; the names are: none yet"),
        (("--out", "/nowhere/tables.md"), "/nowhere/tables.md: cannot be written (No such file or directory)"),
    ],
)
def test_an_invalid_request_is_one_line(shapes, capsys, more, problem):
    with pytest.raises(SystemExit):
        written(shapes, capsys, *more)
    assert problem in capsys.readouterr().err
