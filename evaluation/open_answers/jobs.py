"""Have a model judge open answers; verdicts are stored as they come, and no answered question is sent again."""

from collections.abc import Sequence
from functools import partial

from django.utils import timezone

from evaluation.errors import EvaluationError
from evaluation.metrics.open_answers import EXACT, credit
from evaluation.open_answers.models import JudgeUsage, OpenAnswer, OpenAnswerSet
from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.catalogue.registry import CHAT, ENDPOINT
from foilworks.core.hub.interfaces import Chat, ChatRequest
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.served.budget import Budget
from foilworks.core.hub.served.readings import by_words
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import note, progress
from foilworks.core.text.batches import batched
from foilworks.core.text.model_answers import YES_NO, without_thoughts
from foilworks.core.text.registry import load, version_of
from generation.instruction_models.answer_rows import PricedAnswers
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.endpoints import endpoint_and_model
from generation.records import JudgedAnswer
from generation.screening.registry import JUDGES

# Change the version with the text: it is part of the key of a judge.
PROMPTS = "1"
PROMPT = (
    "A question about a video, its right answer, and the answer of a student.\n"
    "Question: {question}\nRight answer: {reference}\nAnswer of the student: {answer}\n"
    "Does the student's answer mean the same as the right answer? Answer with yes or no."
)
ANSWERS_AT_ONCE, MAX_TOKENS, TRIES, TIMEOUT = 64, 1024, 6, 120.0
Verdict = OpenAnswer.Verdict


def judge_answers(set_id: int, job: Job) -> None:
    """Judge the answers of a set whose right answer is a text. EvaluationError, HubError: the model cannot answer."""
    answer_set = OpenAnswerSet.objects.select_related("release__project").get(pk=set_id)
    rows = list(OpenAnswer.objects.filter(answer_set=answer_set).order_by("pk"))
    texts = [row for row in rows if credit(row.text, row.reference)[0] == EXACT]
    todo = [row for row in texts if not row.verdict]
    if answer_set.judge.partition(":")[0] in JUDGES:
        _judge_by_plugin(answer_set, todo)
    else:
        _judge_by_chat(answer_set, texts, todo, job)
    answer_set.judged_at = timezone.now()
    answer_set.save(update_fields=["judge_key", "judged_at"])


def _judge_by_plugin(answer_set: OpenAnswerSet, todo: Sequence[OpenAnswer]) -> None:
    """Store the verdicts of a judge of a plug-in (docs/how-to/plugins.md). EvaluationError: not one per answer."""
    slug, _colon, argument = answer_set.judge.partition(":")
    entry = JUDGES[slug]
    module = load(entry)
    if not hasattr(module, "judge_answers"):
        raise EvaluationError(f"the judge '{slug}' judges no answers; choose another judge")
    answer_set.judge_key = f"{answer_set.judge}@{version_of(entry, module)}"[:300]
    answers = [JudgedAnswer(row.question, row.reference, without_thoughts(row.text)[0]) for row in todo]
    verdicts = list(module.judge_answers(answers, argument=argument))
    if len(verdicts) != len(todo):
        raise EvaluationError(
            f"{entry.origin}: judge_answers gave {len(verdicts)} verdicts for {len(todo)} answers; give one per answer"
        )
    for row, is_right in zip(todo, verdicts, strict=True):
        row.verdict = Verdict.UNREADABLE if is_right is None else Verdict.RIGHT if is_right else Verdict.WRONG
    OpenAnswer.objects.bulk_update(todo, ["verdict"], batch_size=ANSWERS_AT_ONCE)


def _judge_by_chat(
    answer_set: OpenAnswerSet, texts: Sequence[OpenAnswer], todo: Sequence[OpenAnswer], job: Job
) -> None:
    chat, answers = _opened(answer_set, job)
    answer_set.judge_key = f"{chat.info.model_id}@{chat.info.revision} judge={PROMPTS}"[:300]
    asking, done = Asking(chat, answers), len(texts) - len(todo)
    for some in batched(todo, ANSWERS_AT_ONCE):
        replies = asking.ask([_request(row) for row in some])
        failure = next((reply.failure for reply in replies if reply.failure and not reply.text), "")
        judged = [(row, reply) for row, reply in zip(some, replies, strict=True) if reply.text or reply.refusal]
        for row, reply in judged:
            reading = by_words(reply.text, YES_NO, (), reply.reason)
            is_right = reading.answer == YES_NO[0]
            row.verdict = (Verdict.RIGHT if is_right else Verdict.WRONG) if reading.shares else Verdict.UNREADABLE
        OpenAnswer.objects.bulk_update([row for row, _reply in judged], ["verdict"])
        if failure and not judged:
            raise EvaluationError(f"{chat.info.model_id}: the judge gives no answer ({failure}); retry the job later")
        done += len(some)
        progress(job, done, len(texts), f"asking the model: {chat.info.model_id}")


def _request(row: OpenAnswer) -> ChatRequest:
    answer = without_thoughts(row.text)[0]
    text = PROMPT.format(question=row.question or "–", reference=row.reference, answer=answer or "–")
    return ChatRequest((("user", text),), max_tokens=MAX_TOKENS)


def _opened(answer_set: OpenAnswerSet, job: Job) -> tuple[Chat, PricedAnswers]:
    slug, _colon, argument = answer_set.judge.partition(":")
    if slug != ENDPOINT:
        usage, _created = JudgeUsage.objects.get_or_create(answer_set=answer_set)
        chat: Chat = open_helper(answer_set.judge, CHAT)
        return chat, PricedAnswers(usage, int, None, stores_refusals=True)
    endpoint, model = endpoint_and_model(argument)
    usage, _created = JudgeUsage.objects.get_or_create(
        answer_set=answer_set, defaults={"currency": endpoint.currency[:20]}
    )
    patience = RetryPolicy(TRIES, TIMEOUT, endpoint.in_flight)
    served = Endpoint(endpoint.name, endpoint.url, model, endpoint.key)
    answers = PricedAnswers(usage, int, endpoint.price, stores_refusals=True)
    return ChatEndpoint(served, patience, Budget(), partial(note, job)), answers
