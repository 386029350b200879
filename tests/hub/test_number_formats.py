"""Number formats: named by the spec or the command, chosen by the device for models that write, part of every key."""

import numpy as np
import pytest

from hub.adapters.registry import open_adapter, open_helper, parse_spec
from hub.errors import HubError
from hub.number_formats import dtype_of_spec, resolve_dtype, split_dtype
from hub.revisions import fingerprint
from tests.hub.chat_folder import chat_lm
from tests.hub.test_interfaces import SPECS, matrix


@pytest.mark.parametrize("name", SPECS)
def test_every_spec_takes_a_format_and_every_key_names_it(name, tmp_path):
    spec = SPECS[name](tmp_path)
    mark = "&" if "?" in spec else "?"
    exact, named, short = (
        open_adapter(f"{spec}{tail}", device="cpu") for tail in ("", f"{mark}dtype=float32", f"{mark}dtype=bfloat16")
    )
    assert exact.info == named.info
    assert short.info.revision == f"{exact.info.revision} bfloat16"
    assert np.isfinite(matrix(short, 1)).all()
    assert open_adapter(spec, device="cpu", dtype="bfloat16").info == short.info


def test_a_helper_and_its_fingerprint_name_the_format_that_the_device_chose(tmp_path, monkeypatch):
    folder = str(chat_lm(tmp_path / "chat"))
    plain = fingerprint(folder, "chat", device="cpu")
    assert "dtype" not in plain
    short = open_helper(f"{folder}?dtype=bfloat16", "chat", device="cpu")
    assert next(short.model.parameters()).element_size() == 2
    assert short.info.revision == f"{open_helper(folder, 'chat', device='cpu').info.revision} bfloat16"
    on_gpu(monkeypatch)
    assert fingerprint(folder, "chat") == f"{plain}?dtype=bfloat16"
    assert fingerprint(f"{folder}?dtype=float32", "chat") == f"{plain}?dtype=float32"


def on_gpu(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


def test_models_that_write_get_bfloat16_on_a_gpu_and_nothing_else_does(monkeypatch):
    assert {resolve_dtype(slug, "auto", "auto") for slug in ("vlm", "chat", "clip", "lm")} == {"float32"}
    on_gpu(monkeypatch)
    chosen = {slug: resolve_dtype(slug, "auto", "auto") for slug in ("vlm", "chat", "clip", "video", "lm", "sentence")}
    assert chosen == {**dict.fromkeys(chosen, "float32"), "vlm": "bfloat16", "chat": "bfloat16"}
    assert resolve_dtype("vlm", "auto", "cpu") == "float32"
    assert dtype_of_spec("vlm:a/b?frames=4&dtype=float16", "auto", "cuda") == "float16"


def test_the_option_is_taken_out_of_the_name():
    assert split_dtype("a/b?frames=4&dtype=bfloat16&mode=gain") == ("a/b?frames=4&mode=gain", "bfloat16")
    assert split_dtype("a/b?dtype=float16", "float16") == ("a/b", "float16")
    assert split_dtype("a/b?dtype=auto") == ("a/b", "auto")
    assert split_dtype("a/b?frames=4") == ("a/b?frames=4", "auto")


def test_a_format_that_is_unknown_or_named_twice_is_refused():
    with pytest.raises(HubError, match="dtype 'int3' is unknown; choose one of: float32, bfloat16, float16"):
        parse_spec("clip:a/b?dtype=int3")
    with pytest.raises(HubError, match="dtype is bfloat16 and float32; name one format"):
        open_adapter("fake:?dtype=bfloat16", dtype="float32")
