"""Local models in the parameters of a run: absolute for workers, and below one folder where a page asks."""

from pathlib import Path

import pytest

from foilworks.core.projects.models import Role
from generation.actions.runs import start_run
from generation.errors import GenerationError
from generation.model_paths import with_paths
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video


def test_hub_ids_prefixes_and_other_parameters_stay_as_they_are():
    params = {"model": "FacebookAI/roberta-base, fake-mask:", "tagger": "auto", "foils": 3, "prompts": "/a {mask}"}
    assert with_paths(params, only_below=Path("/nowhere")) == params


def test_local_folders_become_absolute(tmp_path, monkeypatch):
    (tmp_path / "models/a").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    given = {"model": "models/a,mask:models/a", "vectors": "./../x.txt"}
    assert with_paths(given, only_below=None) == {
        "model": f"{tmp_path}/models/a, mask:{tmp_path}/models/a",
        "vectors": f"{tmp_path.parent}/x.txt",
    }


@pytest.mark.parametrize("name", ["/etc", "mask:/etc", "fake-mask:, /etc", "{root}/../secret", "spacy:/etc"])
def test_a_page_can_only_name_models_in_the_model_folder(tmp_path, name):
    root = tmp_path / "models"
    wished = name.format(root=root)
    with pytest.raises(GenerationError, match="a page can only use models in the installation's model folder"):
        with_paths({"model": wished}, only_below=root)
    assert with_paths({"model": f"{root}/a"}, only_below=root) == {"model": f"{root}/a"}


@pytest.mark.django_db
def test_a_run_with_any_path_is_only_for_the_operator(settings):
    project = make_project()
    owner, subtest = make_member(project, Role.RESEARCHER), make_subtest(project)
    make_caption(make_video(project))
    wishes = {"subtest": subtest, "method": "mask_fill", "params": {"model": "/somewhere/else"}}
    with pytest.raises(GenerationError, match="a page can only use models"):
        start_run(owner, project, FoilRequest(**wishes))
    with pytest.raises(GenerationError, match="a page can only use models"):
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
    with pytest.raises(GenerationError, match="a page can only use models"):
        start_run(
            owner,
            project,
            FoilRequest(subtest=subtest, method="fake", filters={"meaning": {"vectors": "/etc/passwd"}}),
        )
