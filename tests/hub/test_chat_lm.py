"""Local instruction models: asked by their own chat template, on random weights and a real tokenizer."""

import pytest

from hub.adapters.registry import CHAT, CHATS, ENDPOINT, open_helper
from hub.errors import HubError
from hub.interfaces import Chat, ChatRequest
from tests.hub.chat_folder import TEMPLATE, chat_lm


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return chat_lm(tmp_path_factory.mktemp("chat") / "model")


def opened(folder):
    return open_helper(str(folder), CHAT, device="cpu")


def request(text, **options):
    return ChatRequest((("system", "be brief"), ("user", text)), **{"max_tokens": 12, **options})


def answers(chat, *requests):
    return dict(pair for together in chat.replies(requests) for pair in together)


def test_every_chat_but_the_endpoint_is_opened_by_name(folder):
    for name in set(CHATS) - {ENDPOINT}:
        assert isinstance(open_helper(f"{name}:{folder if name == CHAT else ''}", CHAT, device="cpu"), Chat)


def test_the_models_own_template_is_what_it_reads(folder):
    chat = opened(folder)
    ids = chat._encoded(request("a man folds a red shirt"))
    assert chat.tokenizer.decode(ids) == "<system>be brief</s><user>a man folds a red shirt</s><assistant>"


def test_answers_are_counted_and_the_same_each_time(folder):
    chat = opened(folder)
    asked = [request(f"{word} a shirt") for word in ("fold", "open", "the door of the house opens and closes")]
    first, again = answers(chat, *asked), answers(chat, *asked)
    assert first == again
    assert [reply.prompt_tokens for reply in first.values()] == [len(chat._encoded(one)) for one in asked]
    assert all(reply.text and 0 < reply.completion_tokens <= 12 for reply in first.values())
    assert len({reply.text for reply in first.values()}) > 1


def test_a_longer_neighbour_changes_no_likeliest_answer(folder):
    chat = opened(folder)
    asked = [request("fold"), request("the door of the house opens and closes, and so on")]
    alone = [answers(chat, one)[0].text for one in asked]
    assert [reply.text for reply in answers(chat, *asked).values()] == alone


def test_drawn_answers_follow_the_seed_and_leave_the_random_state_alone(folder):
    import torch

    chat = opened(folder)
    before = torch.random.get_rng_state()
    texts = {seed: answers(chat, request("fold", temperature=2.0, seed=seed))[0].text for seed in (1, 2, 1, 2)}
    assert texts[1] != texts[2]
    assert answers(chat, request("fold", temperature=2.0, seed=1))[0].text == texts[1]
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_prompt_that_does_not_fit_is_not_answered(folder):
    found = answers(opened(folder), request("a " * 3000), request("fold"))
    assert found[0].failure == "longer than the model's 3000 tokens"
    assert found[1].text


def test_a_template_without_a_system_role_gets_it_before_the_question(tmp_path):
    strict = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + TEMPLATE
    chat = opened(chat_lm(tmp_path / "strict", template=strict))
    text = chat.tokenizer.decode(chat._encoded(request("fold", temperature=0.5, seed=3)))
    assert text == "<user>be brief\n\nfold</s><assistant>"


def test_a_model_without_a_chat_template_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(HubError, match=r"plain: its tokenizer has no chat template; choose a model tuned for"):
        opened(chat_lm(tmp_path / "plain", template=""))
