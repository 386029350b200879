"""Number formats: named by the spec or the command, chosen by the device for models that write, part of every key."""

import numpy as np
import pytest
import torch

from foilworks.core.hub.catalogue.number_formats import (
    GENERATIVE,
    choose_format,
    dtype_of_spec,
    resolve_dtype,
    split_dtype,
)
from foilworks.core.hub.catalogue.specs import parse_spec
from foilworks.core.hub.device import has_bf16
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter, open_helper
from foilworks.core.hub.revisions import fingerprint
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


def test_a_helper_and_its_fingerprint_name_the_format(tmp_path):
    folder = str(chat_lm(tmp_path / "chat"))
    plain = fingerprint(folder, "chat", device="cpu")
    assert "dtype" not in plain
    short = open_helper(f"{folder}?dtype=bfloat16", "chat", device="cpu")
    assert next(short.model.parameters()).element_size() == 2
    assert short.info.revision == f"{open_helper(folder, 'chat', device='cpu').info.revision} bfloat16"
    for name in ("bfloat16", "float32"):
        assert fingerprint(f"{folder}?dtype={name}", "chat", device="cpu") == f"{plain}?dtype={name}"


@pytest.mark.parametrize(
    ("device", "writes_text", "has_bf16", "wanted"),
    [
        ("cuda", True, True, "bfloat16"),
        ("cuda", True, False, "float32"),
        ("cuda", False, True, "float32"),
        ("cpu", True, True, "float32"),
        ("cpu", False, False, "float32"),
    ],
)
def test_only_models_that_write_text_on_a_gpu_with_bfloat16_units_get_it(device, writes_text, has_bf16, wanted):
    assert choose_format(device, writes_text=writes_text, has_bf16=has_bf16) == wanted


def test_a_model_runs_in_float32_on_a_cpu_and_in_the_named_format_anywhere():
    every = {slug: resolve_dtype(slug, "auto", "cpu") for slug in ("vlm", "chat", "clip", "video", "lm", "sentence")}
    assert set(every.values()) == {"float32"}
    assert dtype_of_spec("vlm:a/b?frames=4&dtype=float16", "auto", "cuda") == "float16"
    assert has_bf16(torch.device("cpu"))
    assert {"vlm", "chat"} == GENERATIVE


def test_the_format_option_is_removed_from_the_name():
    assert split_dtype("a/b?frames=4&dtype=bfloat16&mode=gain") == ("a/b?frames=4&mode=gain", "bfloat16")
    assert split_dtype("a/b?dtype=float16", "float16") == ("a/b", "float16")
    assert split_dtype("a/b?dtype=auto") == ("a/b", "auto")
    assert split_dtype("a/b?frames=4") == ("a/b?frames=4", "auto")


def test_an_unknown_or_contradictory_format_is_refused():
    with pytest.raises(HubError, match="dtype 'int3' is unknown; choose one of: float32, bfloat16, float16"):
        parse_spec("clip:a/b?dtype=int3")
    with pytest.raises(HubError, match="dtype is bfloat16 and float32; name one format"):
        open_adapter("fake:?dtype=bfloat16", dtype="float32")
