"""`foilworks prune`: lists, written files, their record, and refusals."""

import csv
import json
import random

import pytest
from django.core.management import call_command

from evaluation.analyses.questions import questions_of
from evaluation.analyses.repairs import Repairs, normalized
from evaluation.audit import pruning
from evaluation.audit.selection_record import record_of, selection_of
from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.design import SELECTING
from foilworks.core.solver.pruning import Pruned
from foilworks.core.solver.solution import ItemScore
from foilworks.core.solver.solve import first_view


def rows(n, leak=0.0):
    draw = random.Random(n)
    for number in range(n):
        right, wrong = draw.sample(("up", "down", "left"), 2)
        right = "round" if draw.random() < leak else right
        yield {"qid": f"q{number}", "video": f"v{number}", "caption": f"it goes {right}", "foil": f"it goes {wrong}"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "public.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(40)))
    return path


def remove_every_fourth(monkeypatch, solution):
    """What a selection removes is the subject of tests/solver."""

    def every_fourth(questions, answers, seed, units, n_seeds):
        assert len(set(units)) == len(questions)
        kept = pruning.np.arange(len(questions)) % 4 > 0
        return Pruned(kept, "too_few", 30, solution)

    monkeypatch.setattr(pruning, "prune", every_fourth)


@pytest.fixture(scope="module")
def solution():
    lines = rows(40)
    texts = [TextRecord(row["caption"], (row["foil"],), 0, id=row["qid"], video=row["video"]) for row in lines]
    return first_view(*questions_of(texts))


@pytest.fixture
def files(path, monkeypatch, solution):
    remove_every_fourth(monkeypatch, solution)
    return pruning.prune_files([Source(path)], 5)


def test_the_file_has_the_kept_lines_and_its_record_names_the_others(files, path, tmp_path):
    out = pruning.apply(files, tmp_path, "9.9")
    lines = path.read_text().splitlines(keepends=True)
    assert out.read_text() == "".join(line for at, line in enumerate(lines) if at % 4)
    assert out.name.startswith("public-fair-9.9-seed5-")
    record = selection_of([out])
    assert (record.removed, record.probes, record.seed) == (tuple(f"q{at}" for at in range(0, 40, 4)), SELECTING, 5)
    with pytest.raises(EvaluationError, match="exists already"):
        pruning.apply(files, out, "9.9")
    with pytest.raises(EvaluationError, match="needs the ending"):
        pruning.apply(files, tmp_path / "out.csv", "9.9")
    assert selection_of([path]) is None


def test_files_of_one_name_in_several_folders_stay_apart(tmp_path, monkeypatch, solution):
    remove_every_fourth(monkeypatch, solution)
    lines = [json.dumps(row) + "\n" for row in rows(40)]
    paths = [tmp_path / "set" / subtest / "test.jsonl" for subtest in ("verbs", "numbers")]
    for path, part in zip(paths, (lines[:20], lines[20:]), strict=True):
        path.parent.mkdir(parents=True)
        path.write_text("".join(part))
    out = pruning.apply(pruning.prune_files([Source(path) for path in paths], 5), tmp_path / "fair", "9.9")
    written = {str(path.relative_to(out)): path.read_text().count("\n") for path in sorted(out.rglob("*.jsonl"))}
    assert written == {"numbers/test.jsonl": 15, "verbs/test.jsonl": 15}
    assert len(selection_of(sorted(out.rglob("*.jsonl"))).removed) == 10


def test_a_disk_that_fails_leaves_nothing_behind(files, tmp_path, monkeypatch):
    def fail(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pruning.Path, "write_text", fail)
    with pytest.raises(EvaluationError, match="No space left"):
        pruning.apply(files, tmp_path / "fair.jsonl", "9.9")
    assert [path.name for path in tmp_path.iterdir()] == ["public.jsonl"]


def test_an_audit_of_the_file_reads_its_record(files, tmp_path, capsys):
    out = pruning.apply(files, tmp_path / "kept.jsonl", "9.9")
    call_command("audit", str(out), "--json")
    solved = json.loads(capsys.readouterr().out)["without_video"]
    assert (solved["n"], solved["probes"]) == (30, list(SELECTING))
    assert solved["value"] == solved["held_out"]["value"]


@pytest.mark.parametrize("damage", ["other content", "no JSON", "other probes"])
def test_a_record_of_something_else_does_not_pass(files, tmp_path, damage):
    out = pruning.apply(files, tmp_path / "kept.jsonl", "9.9")
    fields = json.loads(record_of(out).read_text())
    if damage == "other content":
        out.write_text(out.read_text() + "\n")
    elif damage == "no JSON":
        record_of(out).write_text("{")
    else:
        record_of(out).write_text(json.dumps({**fields, "probes": ["characters"]}))
    with pytest.raises(EvaluationError):
        selection_of([out])


def test_the_lists_have_every_item_and_every_removed_id(files, tmp_path):
    review = pruning.review_rows(files)
    pruning.write_lists(files, review, tmp_path / "lists")
    table = list(csv.DictReader((tmp_path / "lists" / pruning.REVIEW).read_text().splitlines()))
    assert (len(table), sum(row["action"] == "remove" for row in table)) == (40, 10)
    assert all(row["repair"] for row in table if row["action"] == "remove")
    assert (tmp_path / "lists" / pruning.REMOVED).read_text().split() == list(files.selection.removed)


def test_ranks_of_models_are_compared_with_random_sets(files):
    ids = [record.id for record in files.records]
    models = [{name: float(at % k == 0) for at, name in enumerate(ids)} for k in (2, 3, 5)]
    result = pruning.rank_correlation(models, files)
    assert set(result) == {"kept", "random"}
    assert -1 <= result["kept"] <= 1
    assert pruning.rank_correlation(models[:1], files) is None


def test_nothing_is_written_without_a_fair_subset(tmp_path, capsys):
    path = tmp_path / "public.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(60, leak=1.0)))
    call_command("prune", str(path), "--apply", "--out", str(tmp_path / "kept.jsonl"), "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["verdict"], result["bound"], result["out"], result["lists"]) == ("no_fair_subset", 0, None, None)
    assert sum(result["repairs"].values()) == 60
    assert list(tmp_path.iterdir()) == [path]


def score(reason):
    return ItemScore("a", 0.9, 0.4, None, "item", reason, 2)


def test_each_reason_has_its_repair():
    records = [
        TextRecord("A cat runs.", ("A dog runs",), 1, id="a", video="v1", position=0),
        TextRecord("A dog runs", ("A cat runs.",), 2, id="b", video="v2", position=1),
        TextRecord("A cow eats", ("A pig eats",), 3, id="c", video="v1", position=0),
    ]
    repairs = Repairs(records)
    assert normalized(" a  cat\u00a0runs. ") == "A cat runs"
    found = [
        repairs.of(0, score(reason)).kind for reason in ("surface form: commas", "position: index", "pairs of words")
    ]
    assert found == ["normalize", "redraw", "pair"]
    assert repairs.of(0, score("pairs of words")).detail == "b"
    assert repairs.of(0, score("other items of the video")).kind == "separate"
    assert repairs.of(2, score("pairs of words")).kind == "exchange"
    assert Repairs(records[2:]).of(0, score("pairs of words")).kind == "replace"


FORMS = ("jsonl", "json", "csv", "tsv", "parquet")


def questions(n):
    """Rows as public sets have them, with columns that nothing reads."""
    draw = random.Random(n)
    for number in range(n):
        options = draw.sample(("left", "right", "up", "down"), 3)
        yield {
            "qid": f"q{number}",
            "video": f"v{number}",
            "question": f"Where does ball {number} go?",
            **{f"a{at}": option for at, option in enumerate(options)},
            "answer": draw.randrange(3),
            "category": "motion, “plain”",
            "seconds": number / 4,
        }


def written(path, lines):
    """Write the rows with the library that publishers use."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(lines)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix in (".json", ".jsonl"):
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl", force_ascii=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def loaded(path, tmp_path):
    """Return the features and rows that the hub's library reads."""
    datasets = pytest.importorskip("datasets")
    kind = {"jsonl": "json", "tsv": "csv"}.get(path.suffix[1:], path.suffix[1:])
    options = {"sep": "\t"} if path.suffix == ".tsv" else {}
    found = datasets.load_dataset(
        kind, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"), **options
    )
    return found.features, found.to_list()


@pytest.mark.full
@pytest.mark.django_db
@pytest.mark.parametrize("form", FORMS)
def test_a_written_file_loads_everywhere_with_every_column(form, tmp_path, monkeypatch, solution, capsys):
    path = written(tmp_path / f"test.{form}", list(questions(40)))
    kept = pruning.np.arange(40) % 4 > 0
    monkeypatch.setattr(pruning, "prune", lambda *_arguments: Pruned(kept, "too_few", 30, solution))
    out = pruning.apply(pruning.prune_files([Source(path)]), tmp_path / f"fair.{form}", "9.9")
    (features, before), (features_after, after) = loaded(path, tmp_path), loaded(out, tmp_path)
    assert features_after == features
    assert list(features) == list(next(questions(1)))
    assert after == [row for row, is_kept in zip(before, kept, strict=True) if is_kept]
    call_command("audit", str(out), "--json")
    assert json.loads(capsys.readouterr().out)["items"] == 30
    call_command("import", "table", str(out), "--project", f"p-{form}", "--create", "--json")
    assert json.loads(capsys.readouterr().out)["created"]["items"] == 30
    assert Item.objects.count() == 30
