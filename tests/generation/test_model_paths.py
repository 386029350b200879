"""Local models in the parameters of a run: absolute for workers, and below one folder where a page asks."""

from importlib import import_module
from itertools import product

import pytest

from evaluation.scoring.run_request import checked_spec
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.projects.model_folders import with_names
from foilworks.core.projects.models import Project, Role
from foilworks.site.teacher.plan import TEACHING
from generation.actions.runs import start_run
from generation.captioning.registry import CAPTIONERS
from generation.errors import GenerationError
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from generation.model_paths import with_paths
from generation.run_request import FoilRequest
from generation.tuning.parameters import TUNING
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video


def test_hub_ids_prefixes_and_other_parameters_stay_as_they_are():
    params = {"model": "FacebookAI/roberta-base, fake-mask:", "tagger": "auto", "foils": 3, "prompts": "/a {mask}"}
    assert with_paths(params, owner=Project(pk=1)) == params


def test_local_folders_become_absolute(tmp_path, monkeypatch):
    (tmp_path / "models/a").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    given = {"model": "models/a,mask:models/a", "vectors": "./../x.txt"}
    assert with_paths(given, owner=None) == {
        "model": f"{tmp_path}/models/a, mask:{tmp_path}/models/a",
        "vectors": f"{tmp_path.parent}/x.txt",
    }


@pytest.mark.parametrize("name", ["/etc", "mask:/etc", "fake-mask:, /etc", "{root}/../secret", "spacy:/etc"])
def test_a_page_can_only_name_models_in_the_model_folder(tmp_path, name, settings):
    settings.MODEL_ROOT = root = tmp_path / "models"
    wished = name.format(root=root)
    with pytest.raises(GenerationError, match="neither a model of this project"):
        with_paths({"model": wished}, owner=Project(pk=1))
    assert with_paths({"model": f"{root}/a"}, owner=Project(pk=1)) == {"model": f"{root}/a"}


@pytest.fixture
def folders(tmp_path, settings):
    """A model of project 1, one of project 2 and a shared one; projects name them without their paths."""
    settings.MODEL_ROOT = root = tmp_path / "models"
    for name in ("projects/1/taught/a", "projects/2/taught/b", "shared/c"):
        (root / name).mkdir(parents=True)
    return root


def test_names_of_models_are_looked_up_in_the_projects_folders(folders):
    first, second = Project(pk=1), Project(pk=2)
    assert checked_spec("tiny:taught/a?frames=8", first) == ("tiny", f"{folders}/projects/1/taught/a?frames=8")
    assert checked_spec("clip:c?tokenizer=c", second) == ("clip", f"{folders}/shared/c?tokenizer={folders}/shared/c")
    assert with_paths({"model": "blip2:taught/b"}, owner=second) == {"model": f"blip2:{folders}/projects/2/taught/b"}
    # What a page shows is what a page takes.
    shown = with_names({"a": [f"tiny:{folders}/projects/1/taught/a?tokenizer={folders}/shared/c"]})
    assert shown == {"a": ["tiny:taught/a?tokenizer=c"]}
    assert checked_spec(shown["a"][0], first)[1] == f"{folders}/projects/1/taught/a?tokenizer={folders}/shared/c"


@pytest.mark.parametrize("name", ["{root}/projects/2/taught/b", "{root}/shared/../projects/2", "../2/b", "{root}/link"])
def test_every_parameter_refuses_a_model_of_another_project(folders, name):
    (folders / "link").symlink_to(folders / "projects/2/taught/b")
    foreign, project = name.format(root=folders), Project(pk=1)
    registries = (METHODS, FILTERS, CAPTIONERS, {"tuning": TUNING, "teaching": TEACHING})
    params = [param for rows in registries for entry in rows.values() for param in entry.params]
    names = {param.name for param in params if param.kind == "str"}
    assert {"model", "nli", "detector", "vectors", "teacher", "student"} <= names
    for param in names:
        with pytest.raises(GenerationError):
            with_paths({param: f"a, {foreign}"}, owner=project)
    for slug, spec in product(ADAPTERS, (f"{foreign}", f"c?frames=8&tokenizer={foreign}")):
        with pytest.raises(GenerationError):
            checked_spec(f"{slug}:{spec}", project)


def test_a_migration_moves_models_and_old_names_stay_valid(tmp_path):
    root = tmp_path / "models"
    (root / "taught/hash").mkdir(parents=True)
    (root / "taught/hash/config.json").write_text("{}")
    migration = import_module("evaluation.migrations.0027_model_folders")
    for project in (1, 2):
        migration.move(root, "taught/hash", project, "taught/hash")
    assert (root / "taught/hash").resolve() == root / "projects/1/taught/hash"
    assert (root / "projects/2/taught/hash/config.json").read_text() == "{}"


@pytest.mark.django_db
def test_a_run_with_any_path_is_only_for_the_operator(settings):
    project = make_project()
    owner, subtest = make_member(project, Role.RESEARCHER), make_subtest(project)
    make_caption(make_video(project))
    wishes = {"subtest": subtest, "method": "mask_fill", "params": {"model": "/somewhere/else"}}
    with pytest.raises(GenerationError, match="neither a model of this project"):
        start_run(owner, project, FoilRequest(**wishes))
    with pytest.raises(GenerationError, match="neither a model of this project"):
        start_run(
            owner,
            project,
            FoilRequest(subtest=subtest, method="fake", filters={"nli": {"model": "/somewhere/else"}}),
        )
    assert start_run(None, project, FoilRequest(**wishes)).params["model"] == "/somewhere/else"
    inside = f"{settings.MODEL_ROOT}/mine"
    assert start_run(owner, project, FoilRequest(**{**wishes, "params": {"model": inside}})).params["model"] == inside


@pytest.mark.django_db
def test_a_filter_without_word_vectors_uses_those_of_the_installation(settings):
    settings.WORD_VECTORS = "/models/counter-fitted-vectors.txt"
    project = make_project()
    owner, subtest = make_member(project, Role.RESEARCHER), make_subtest(project)
    make_caption(make_video(project))
    filters = {"word_similarity": {}, "meaning": {"vectors": f"{settings.MODEL_ROOT}/own.txt"}, "identical": {}}
    run = start_run(owner, project, FoilRequest(subtest=subtest, method="fake", filters=filters))
    assert [row["params"].get("vectors") for row in run.filters] == [
        "/models/counter-fitted-vectors.txt",
        f"{settings.MODEL_ROOT}/own.txt",
        None,
    ]
    with pytest.raises(GenerationError, match="neither a model of this project"):
        start_run(
            owner,
            project,
            FoilRequest(subtest=subtest, method="fake", filters={"meaning": {"vectors": "/etc/passwd"}}),
        )
