"""The page of families says what adapters and transformers do."""

import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES,
)

from foilworks.core.hub.adapters.clip import NEEDED, is_dual_encoder
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.families import DUAL_ENCODERS, OMNI, Support


@pytest.mark.parametrize("name", [name for name, one in DUAL_ENCODERS.items() if one.adapter in ("clip", "")])
def test_the_clip_adapter_accepts_the_families_of_its_table(name: str) -> None:
    if name == "pe_audio_video":
        pytest.importorskip("timm", reason="timm makes its pictures")
    with torch.device("meta"):
        model = AutoModel.from_config(CONFIG_MAPPING[name]())
    assert is_dual_encoder(model) is (DUAL_ENCODERS[name].adapter == "clip")
    assert DUAL_ENCODERS[name].note
    assert len(NEEDED) == 3


def test_every_dual_encoder_of_transformers_is_listed() -> None:
    assert set(MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES) <= set(DUAL_ENCODERS) <= set(CONFIG_MAPPING)
    assert {one.adapter for one in DUAL_ENCODERS.values()} - {""} <= set(ADAPTERS)
    assert all((one.support == Support.ABSENT) is (not one.adapter) for one in DUAL_ENCODERS.values())


def test_omni_models_are_opened_by_another_class() -> None:
    assert not {*OMNI} & {*MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES}
    assert {*OMNI} <= {*MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES}
