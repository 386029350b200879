"""Local instruction models: asked by their own chat template, on random weights and a real tokenizer."""

import pytest

from foilworks.core.hub.batching.shared_prefix import CACHED_TOKENS_PER_BATCH, SharedBeginnings, shared_length
from foilworks.core.hub.catalogue.registry import CHAT, CHATS, ENDPOINT
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Chat, ChatRequest
from foilworks.core.hub.opening import open_helper
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


def test_prompts_use_the_models_own_template(folder):
    chat = opened(folder)
    ids = chat._encoded(request("a man folds a red shirt"))
    assert chat.tokenizer.decode(ids) == "<system>be brief</s><user>a man folds a red shirt</s><assistant>"


def test_the_start_of_an_answer_is_continued(folder):
    chat = opened(folder)
    begun = ChatRequest((("user", "fold"), ("assistant", "a red")), max_tokens=4)
    assert chat.tokenizer.decode(chat._encoded(begun)) == "<user>fold</s><assistant>a red"


def test_answers_are_counted_and_repeatable(folder):
    chat = opened(folder)
    asked = [request(f"{word} a shirt") for word in ("fold", "open", "the door of the house opens and closes")]
    first, again = answers(chat, *asked), answers(chat, *asked)
    assert first == again
    assert [reply.prompt_tokens for reply in first.values()] == [len(chat._encoded(one)) for one in asked]
    assert all(reply.text and 0 < reply.completion_tokens <= 12 for reply in first.values())
    assert len({reply.text for reply in first.values()}) > 1


def test_a_longer_prompt_in_the_batch_does_not_change_an_answer(folder):
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


def test_a_prompt_that_is_too_long_is_not_answered(folder):
    found = answers(opened(folder), request("a " * 3000), request("fold"))
    assert found[0].failure == "longer than the model's 3000 tokens"
    assert found[1].text


def test_a_template_without_a_system_role_gets_it_before_the_question(tmp_path):
    strict = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + TEMPLATE
    chat = opened(chat_lm(tmp_path / "strict", template=strict))
    text = chat.tokenizer.decode(chat._encoded(request("fold", temperature=0.5, seed=3)))
    assert text == "<user>be brief\n\nfold</s><assistant>"


def test_a_model_without_a_chat_template_is_refused(tmp_path):
    with pytest.raises(HubError, match=r"plain: its tokenizer has no chat template; choose a model tuned for"):
        opened(chat_lm(tmp_path / "plain", template=""))


def few_shot(text):
    shown = (("system", "name what is seen " * 6), ("user", "a man folds a shirt"), ("assistant", "man, shirt"))
    return ChatRequest((*shown, ("user", text)), max_tokens=6)


def fed(chat, run):
    """What `run` gives, and the tokens of prompts that went through the model meanwhile."""
    seen = []
    hook = chat.model.get_input_embeddings().register_forward_pre_hook(lambda _, given: seen.append(given[0].shape))
    try:
        found = run()
    finally:
        hook.remove()
    # One token a row is a step of an answer.
    return found, sum(rows * length for rows, length in seen if length > 1)


def test_few_shot_examples_run_once(folder, monkeypatch):
    chat = opened(folder)
    asked = [few_shot(text) for text in ("the door opens", "box after box", "x", "a ring", "red shirts fall")]
    monkeypatch.setitem(CACHED_TOKENS_PER_BATCH, "cpu", 0)
    monkeypatch.setattr(chat, "_beginnings", SharedBeginnings(chat.model))
    rows = [chat._encoded(one) for one in asked]
    shared = shared_length(rows)
    assert shared > 100
    found, tokens = fed(chat, lambda: answers(chat, *asked))
    # One row a batch: the first row, then what all begin with, and of every row the rest.
    assert tokens == len(rows[0]) - 1 + shared + sum(len(row) - shared for row in rows[1:])
    again, tokens = fed(chat, lambda: answers(chat, *asked))
    assert tokens == sum(len(row) - shared for row in rows)
    monkeypatch.setattr(chat._beginnings, "begin", lambda rows: (0, None))
    plain, tokens = fed(chat, lambda: answers(chat, *asked))
    assert tokens == sum(map(len, rows))
    assert [one.text for one in found.values()] == [one.text for one in again.values()]
    assert [one.text for one in found.values()] == [one.text for one in plain.values()]


def test_rows_of_a_batch_share_their_beginning(folder, monkeypatch):
    chat = opened(folder)
    monkeypatch.setattr(chat, "_beginnings", SharedBeginnings(chat.model))
    asked = [few_shot(text) for text in ("the door opens", "two boys lift a box", "x")]
    rows = [chat._encoded(one) for one in asked]
    together, tokens = fed(chat, lambda: answers(chat, *asked))
    rest = max(map(len, rows)) - shared_length(rows)
    assert tokens == shared_length(rows) + len(rows) * rest
    monkeypatch.setattr(chat._beginnings, "begin", lambda rows: (0, None))
    assert [one.text for one in together.values()] == [answers(chat, one)[0].text for one in asked]


def test_different_examples_get_a_different_beginning():
    model = chat_model()
    beginnings = SharedBeginnings(model)
    first, second = list(range(3, 43)), list(range(43, 83))
    assert [beginnings.begin([[*row, 5], [*row, 6]])[0] for row in (first, second, first)] == [40, 40, 40]
    assert beginnings.begin([[*first[:10], 5], [*first[:10], 6]]) == (0, None)
    n, cache = beginnings.begin([[*first, 7], [*first, 8, 9]])
    assert (n, cache.get_seq_length(), cache.layers[0].keys.shape[0]) == (40, 40, 2)


def chat_model():
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=99, **sizes)).eval()


def test_batches_are_limited_by_tokens_and_keep_their_order(folder, monkeypatch):
    chat = opened(folder)
    monkeypatch.setitem(CACHED_TOKENS_PER_BATCH, "cpu", 100)
    assert list(chat._batches([0, 1, 2, 4, 5], [30, 30, 50, 999, 40, 200])) == [[0, 1], [2, 4], [5]]
