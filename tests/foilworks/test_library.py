"""`import foilworks`: functions for notebooks and scripts, which give what the commands print."""

import doctest
import json
import subprocess
import sys
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from types import SimpleNamespace

import huggingface_hub
import pytest
from django.core.management import call_command
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError

import foilworks
from foilworks import library
from foilworks.core.text.errors import ActionableError
from foilworks.library import hub
from tests.packages import installed_in

MODULES = [
    "foilworks.core.text.errors",
    *(f"foilworks.library.{name}" for _, name, _ in iter_modules(library.__path__)),
]
# What `import foilworks` may load: itself. Its functions load no settings, tables or model libraries.
LIGHT = """
import sys
before = set(sys.modules)
import foilworks
loaded = set(sys.modules) - before
assert {name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names} == {"foilworks",
    "foilworks.version"}, loaded
rows = [{"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}"} for n in range(4)]
foilworks.audit(rows), foilworks.read(rows)
foilworks.foils(["A man claps three times."], method="number")
foilworks.agreement([{"item": "a", "annotator": "b", "choice": "c"}], coding="labels")
foilworks.ladder([{"id": "a", "full": 1}])
foilworks.metrics.mc([{"id": "a", "scores": [1, 0]}])
print(sorted({"django", "torch", "transformers", "matplotlib"} & set(sys.modules)))
"""
ROWS = [
    {"id": f"i{n}", "caption": f"a {who} opens door {n}", "foil": f"a {who} closes door {n}", "video": f"v{n}"}
    for n, who in enumerate(["man", "girl", "dog"] * 8)
]


def test_the_library_loads_no_settings_tables_or_models():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


# With fewer than five videos, nothing is solved, which takes a second.
FEW, MANY = 4, 24
SOLVES = {"foilworks.library.audits"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name in SOLVES)) for name in MODULES])
def test_the_examples_of_public_names_run(name):
    failed, _n = doctest.testmod(import_module(name))
    assert failed == 0


# Names that are no objects with a docstring of their own.
PLAIN = {"Data", "__version__"}


def test_every_public_name_has_an_example():
    names = {*library.__all__, "__version__"}
    assert {*foilworks.__all__} == names
    assert names <= {*dir(foilworks)}
    for name in names - PLAIN:
        value = getattr(foilworks, name)
        assert ">>>" in value.__doc__, name
        is_function = not isinstance(value, type) and value is not foilworks.metrics
        assert not is_function or "Error" in value.__doc__, name
    for name, value in vars(foilworks.metrics).items():
        if getattr(value, "__module__", "") == foilworks.metrics.__name__ and not name.startswith("_"):
            assert ">>>" in value.__doc__, name
    with pytest.raises(AttributeError):
        _ = foilworks.nothing


@pytest.mark.parametrize("n", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
def test_rows_a_frame_a_folder_and_a_table_give_equal_json(tmp_path, n):
    pandas = pytest.importorskip("pandas")
    rows = ROWS[:n]
    frame = pandas.DataFrame(rows)
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "folder").mkdir()
    frame.to_parquet(tmp_path / "folder" / "data.parquet")
    results = [foilworks.audit(data) for data in (rows, frame, tmp_path / "folder", tmp_path / "data.csv")]
    documents = [json.loads(result.to_json()) for result in results]
    for document in documents:
        document.pop("files")
    assert documents[0] == documents[1] == documents[2] == documents[3]
    assert documents[0]["items"] == n


# datasets takes seconds to import.
@pytest.mark.full
def test_other_frames_are_read_as_rows():
    import datasets
    import polars

    data_set = datasets.Dataset.from_list([{**row, "n": 1, "x": None} for row in ROWS])
    texts = [item.right for item in foilworks.read(ROWS).items]
    frame = polars.DataFrame([{**row, "n": 1, "x": None, "wrongs": [row["foil"]]} for row in ROWS])
    assert [item.right for item in foilworks.read(frame).items] == texts
    assert [item.wrongs for item in foilworks.read(frame.drop("foil")).items] == [(row["foil"],) for row in ROWS]
    with pytest.raises(ActionableError, match="'LazyFrame'"):
        foilworks.read(frame.lazy())
    assert [item.right for item in foilworks.read(data_set).items] == texts
    named = foilworks.read({"doors": ROWS[:2], "others": ROWS[2:]})
    assert {item.subtest for item in named.items} == {"doors", "others"}


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (["audit", "{file}"], lambda file: foilworks.audit(file)),
        (["foil", "--method", "number", "--file", "{file}"], lambda file: foilworks.foils(file, method="number")),
        (["report", "agreement", "--file", "{votes}"], lambda file: foilworks.agreement(file.with_name("votes.jsonl"))),
        (
            ["metrics", "pairwise", "--file", "{scores}"],
            lambda file: foilworks.metrics.pairwise(file.with_name("scores.jsonl")),
        ),
    ],
)
def test_json_is_that_of_the_command(tmp_path, capsys, arguments, result):
    files = {
        "file": ROWS[:FEW],
        "votes": [{"item": row["id"], "annotator": f"p{n}", "choice": "caption"} for row in ROWS for n in range(2)],
        "scores": [{"id": row["id"], "scores": [n % 2, 0.5]} for n, row in enumerate(ROWS)],
    }
    paths = {name: tmp_path / f"{name}.jsonl" for name in files}
    for name, rows in files.items():
        paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    call_command(*(argument.format(**paths) for argument in arguments), "--json")
    assert capsys.readouterr().out.strip() == result(paths["file"]).to_json()


def test_a_result_is_one_line_a_table_and_bars():
    result = foilworks.read([{**row, "caption": f"<script>{row['caption']}"} for row in ROWS])
    assert "\n" not in repr(result)
    html = result._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "more rows" in html
    ladder = foilworks.ladder([{"id": str(n), "no_clip": n % 2, "full": True} for n in range(30)])
    assert ladder._repr_html_().count("<svg") == 2
    assert list(ladder.to_pandas("rungs")["rung"]) == ["no_clip", "full"]
    with pytest.raises(ActionableError):
        ladder.to_pandas("steps")
    with pytest.raises(AttributeError):
        ladder.document = {}


def test_without_wandb_a_result_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ActionableError, match="wandb: is not installed; install it with `pip install wandb`"):
        foilworks.metrics.mc([{"id": "a", "scores": [0.9, 0.1]}]).log_to(None)


# Offline, a run is a file: wandb's own reader of it, and the tables beside it.
LOG_TO_WANDB = """
import json, sys
from pathlib import Path
import foilworks, wandb
rows = json.loads(sys.argv[1])
with wandb.init(project="doors", mode="offline", dir=".", settings=wandb.Settings(silent=True)) as run:
    foilworks.audit(rows).log_to(run)
    foilworks.metrics.mc([{"id": "a", "scores": [0.9, 0.1]}]).log_to(run, "choices")
    summary = dict(run.summary)
print(json.dumps({name: summary[name] for name in ("audit/verdict", "audit/items", "choices/accuracy")}))
tables = {path.name.partition("_")[0]: json.loads(path.read_text()) for path in Path().rglob("*.table.json")}
print(json.dumps({name: [table["columns"][:1], len(table["data"])] for name, table in tables.items()}))
print(sum(path.stat().st_size > 0 for path in Path("wandb").glob("offline-run-*/*.wandb")))
"""


@pytest.mark.full
def test_results_are_logged_to_weights_and_biases(tmp_path):
    """With the real package, which needs no network when it is offline."""
    own = installed_in(tmp_path / "packages", "wandb")
    program = [sys.executable, "-c", LOG_TO_WANDB, json.dumps(ROWS)]
    done = subprocess.run(program, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary, tables, files = map(json.loads, done.stdout.splitlines())
    result = foilworks.audit(ROWS)
    assert summary == {"audit/verdict": result.verdict, "audit/items": len(ROWS), "choices/accuracy": 1.0}
    assert tables["items"][1] == len(result.tables()["items"])
    assert tables["checks"] == [["title"], len(result.tables()["checks"])]
    assert files == 1


def test_a_file_of_the_current_folder_needs_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:FEW]), encoding="utf-8")
    assert foilworks.audit("set.jsonl")["items"] == FEW


@pytest.mark.full
def test_pruning_returns_what_leaves_and_writes_what_stays(tmp_path):
    words = ("left", "right", "up", "down")
    pairs = [(a, b) for a in words for b in words if a != b]
    rows = [
        {"id": f"{n} {a} {b}", "caption": f"boat {n} turns {a}", "foil": f"boat {n} turns {b}", "video": f"{n}{a}"}
        for n in range(8)
        for a, b in pairs
    ]
    result = foilworks.prune(rows, lists=tmp_path / "lists", out=tmp_path / "out.jsonl")
    assert len(result.removed) + result["n_kept"] == len(rows)
    assert len(result.to_pandas()) == len(rows)
    if result["verdict"] != "no_fair_subset":
        assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == result["n_kept"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: foilworks.audit([1, 2]),
        lambda: foilworks.audit([]),
        lambda: foilworks.audit(ROWS, sample=0),
        lambda: foilworks.audit(ROWS, columns={"verb": "x"}),
        lambda: foilworks.audit({"a/b": ROWS}),
        lambda: foilworks.prune(ROWS[:1]),
        lambda: foilworks.prune(ROWS[:4]),
        lambda: foilworks.audit("hf://models/a/b"),
        lambda: foilworks.audit("hf://datasets/a/b"),
        lambda: foilworks.foils([], method="number"),
        lambda: foilworks.foils(["a"], method="no_such_method"),
        lambda: foilworks.ladder([{"id": "a", "no_clip": 1}]),
        lambda: foilworks.ladder([{"id": "a", "full": 7}]),
        lambda: foilworks.ladder([{"id": "a", "full": 1}, {"id": "a", "full": 1}]),
        lambda: foilworks.ladder(ROWS, ROWS),
        lambda: foilworks.metrics.mc([]),
        lambda: foilworks.metrics.mc([{"id": "a"}]),
    ],
)
def test_bad_input_gets_one_message_without_a_temporary_path(call):
    with pytest.raises(ActionableError) as problem:
        call()
    assert "\n" not in str(problem.value)
    assert "foilworks-" not in str(problem.value)


SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub_cache(monkeypatch, tmp_path):
    """The folder of a data set that the client of the hub returns."""
    (tmp_path / "data").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "data" / "doors.jsonl").write_text(lines, encoding="utf-8")

    def info(_self, name, *, revision, files_metadata):
        if name != "lab/doors":
            # As its HTTP library raises it.
            raise HfHubHTTPError.__bases__[0]("404")
        rows = [
            SimpleNamespace(rfilename=name, size=1000)
            for name in ("README.md", "data/doors.jsonl", "dataset_infos.json")
        ]
        return SimpleNamespace(sha=SHA, siblings=rows, card_data={"license": ["mit", "cc-by-4.0"]})

    def snapshot(name, *, repo_type, revision, allow_patterns):
        assert (name, repo_type, revision, allow_patterns) == ("lab/doors", "dataset", SHA, ["data/doors.jsonl"])
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)


def test_a_data_set_of_the_hub_is_read_with_its_revision_and_licence(hub_cache):
    (file,) = foilworks.audit("hf://datasets/lab/doors@main/data", sample=FEW)["files"]
    assert file["name"] == "doors.jsonl"
    assert file["address"] == "hf://datasets/lab/doors@main/data"
    assert (file["revision"], file["licence"]) == (SHA, "mit, cc-by-4.0")


@pytest.mark.parametrize("address", ["hf://datasets/lab/nothing", "hf://datasets/lab/doors/images"])
def test_a_data_set_that_the_hub_does_not_have_is_an_error(hub_cache, address):
    with pytest.raises(ActionableError):
        hub.download(address)


def test_the_real_client_without_a_network_is_an_error(monkeypatch):
    """No fake: nothing listens at this address."""
    monkeypatch.setattr(huggingface_hub, "HfApi", partial(huggingface_hub.HfApi, endpoint="http://127.0.0.1:9"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(ActionableError, match="cannot be downloaded"):
        hub.download("hf://datasets/lab/doors")


def test_data_of_no_kind_is_an_error():
    with pytest.raises(ActionableError, match="'int'"):
        foilworks.audit(5)


def test_groups_count_only_if_all_their_samples_are_right():
    flags = {"a": (True, True), "b": (True, False), "c": (False, False)}
    rows = [
        {"id": f"{clip}{n}", "group": clip, "correct": flag}
        for clip, pair in flags.items()
        for n, flag in enumerate(pair)
    ]
    (model,) = foilworks.metrics.classes(rows)["models"]
    assert (model["accuracy"], model["group_accuracy"], model["n_groups"]) == (0.5, 1 / 3, 3)
    alone = foilworks.metrics.classes([*rows, {"id": "a", "correct": True}])["models"][0]
    assert (alone["group_accuracy"], alone["n_groups"]) == (0.5, 4)
    assert "group_accuracy" not in foilworks.metrics.classes([{"id": "a", "correct": True}])["models"][0]


def test_models_are_compared_on_the_items_that_both_scored():
    right, wrong = [0.9, 0.2], [0.1, 0.2]
    first = [{"id": f"i{n}", "cluster": f"v{n // 2}", "scores": right} for n in range(12)]
    second = [{"id": f"i{n}", "scores": wrong if n < 4 else right} for n in range(1, 13)]
    result = foilworks.metrics.compare(first, second)
    assert (result["a"], result["b"]) == (1.0, 8 / 11)
    assert (result["difference"]["n"], result["difference"]["n_clusters"]) == (11, 6)
    assert result["mcnemar"]["only_a"] == 3
    assert result["unmatched"] == {"not_in_second": ["i0"], "not_in_first": ["i12"]}
    assert result._repr_html_().count("<svg") == 2
    with pytest.raises(ActionableError, match="no item of the first"):
        foilworks.metrics.compare(first, [{"id": "x", "scores": right}])


def test_paths_by_name_are_subtests(tmp_path):
    for name in ("one.jsonl", "two.jsonl"):
        lines = "".join(json.dumps(row) + "\n" for row in ROWS[:FEW])
        (tmp_path / name).write_text(lines, encoding="utf-8")
    read = foilworks.read({"doors": tmp_path / "one.jsonl", "others": tmp_path / "two.jsonl"})
    assert {item.subtest for item in read.items} == {"doors", "others"}
