"""Code and weights of others are loaded where a project's owner allowed it for that model, and nowhere else."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from django.core.management import call_command
from safetensors.torch import load_file

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.models import trust_model
from evaluation.scoring.models import ModelTrust
from evaluation.scoring.trusted_models import trust_of
from foilworks.core.hub.catalogue.specs import trusted_name
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Trust
from foilworks.core.hub.opening import open_adapter
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from tests import factories
from tests.hub import folders

OWN_CODE = """
from transformers import GPT2Config, GPT2LMHeadModel
class OwnConfig(GPT2Config):
    model_type = "own"
class OwnModel(GPT2LMHeadModel):
    config_class = OwnConfig
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folders.causal_lm(tmp_path_factory.mktemp("trust") / "plain")


@pytest.fixture
def pickled(plain: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(plain, tmp_path / "pickled"))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


@pytest.fixture
def own(plain: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(plain, tmp_path / "own_model"))
    (folder / "modeling_own.py").write_text(OWN_CODE)
    config = json.loads((folder / "config.json").read_text())
    named = {"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnModel"}
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "own", "auto_map": named}))
    return folder


def test_other_weights_are_read_if_they_are_permitted(pickled: Path, plain: Path) -> None:
    with pytest.raises(
        HubError, match=r"pytorch_model.bin is not a safetensors file and is not loaded; the project's owner"
    ):
        open_adapter(f"lm:{pickled}", device="cpu")
    allowed = open_adapter(f"lm:{pickled}", device="cpu", trust=Trust(other_weights=True))
    texts = ["a man folds a shirt", "a ring"]
    wanted = open_adapter(f"lm:{plain}", device="cpu").score(None, texts)
    assert [s.value for s in allowed.score(None, texts)] == pytest.approx([s.value for s in wanted], abs=1e-6)
    # The permission ended with the loading.
    with pytest.raises(HubError, match="is not loaded"):
        open_adapter(f"lm:{pickled}", device="cpu")


def test_code_next_to_the_weights_runs_if_it_is_permitted(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_MODULES_CACHE", str(own.parent / "modules"))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(own.parent / "modules"))
    monkeypatch.syspath_prepend(str(own.parent / "modules"))
    with pytest.raises(
        HubError, match=r"own_model: it needs code of its authors, which is not run; the project's owner"
    ):
        open_adapter(f"lm:{own}", device="cpu")
    adapter = open_adapter(f"lm:{own}", device="cpu", trust=Trust(remote_code=True))
    assert type(adapter.model).__name__ == "OwnModel"


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("vlm:a/b@abc?frames=4", "vlm:a/b"),
        ("lm:/models/a@b", "lm:/models/a@b"),
        ("clip:a/b?frames=4&pooling=logits", "clip:a/b"),
    ],
)
def test_a_permission_is_for_the_model_whatever_its_options(spec: str, name: str) -> None:
    assert trusted_name(spec) == name


@pytest.mark.django_db
class TestPermission:
    def test_an_owner_grants_and_withdraws_permissions_with_an_audit_row(self) -> None:
        project, other = factories.make_project(slug="mine"), factories.make_project(slug="other")
        owner = factories.make_member(project, "researcher")
        trust_model(owner, project, "vlm:a/b?frames=4", remote_code=True)
        assert trust_of(project, "vlm:a/b@main") == Trust(remote_code=True)
        assert trust_of(other, "vlm:a/b") == trust_of(project, "vlm:a/c") == Trust()
        trust_model(owner, project, "vlm:a/b")
        assert trust_of(project, "vlm:a/b") == Trust()
        assert AuditEvent.objects.filter(action="evaluation.trust_model").count() == 2

    def test_a_folder_is_identified_by_its_absolute_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        project = factories.make_project(slug="mine")
        (tmp_path / "models/mine").mkdir(parents=True)
        monkeypatch.chdir(tmp_path)
        assert trust_model(None, project, "lm:models/mine?frames=4").name == f"lm:{tmp_path}/models/mine"

    def test_others_may_not(self) -> None:
        project = factories.make_project(slug="mine")
        with pytest.raises(AccessDenied):
            trust_model(factories.make_member(project, "validator"), project, "vlm:a/b", remote_code=True)
        with pytest.raises(HubError, match="names no model"):
            trust_model(None, project, "vlam:a/b", remote_code=True)
        assert not ModelTrust.objects.exists()

    @pytest.mark.parametrize(
        "spec",
        ["clip:{0}/pytorch_model.bin.4", "clip:weights/ViT.pt", "vlm:models/mine/copy", "lm:./mine", "external:mine"],
    )
    def test_a_file_that_does_not_exist_is_refused(
        self, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = factories.make_project(slug="mine")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(EvaluationError, match=rf"^{tmp_path}/.*: there is no such file or folder; check the path"):
            trust_model(None, project, spec.format(tmp_path), other_weights=True)
        assert not ModelTrust.objects.exists()
        # What was allowed for a file that has gone since can be withdrawn.
        assert not trust_model(None, project, spec.format(tmp_path)).other_weights

    def test_the_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        factories.make_project(slug="mine")
        call_command("trust", "--project", "mine", "--model", "vlm:a/b", "--remote-code", "--other-weights")
        assert capsys.readouterr().out.strip() == "vlm:a/b in mine: remote code and other weights"
        call_command("trust", "--project", "mine", "--model", "vlm:a/b")
        assert "only safetensors" in capsys.readouterr().out
