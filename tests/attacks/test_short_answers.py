"""Huge values: whatever is sent, an answer repeats at most 200 characters of it."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.records import BadRecord, RecordWarning
from foilworks.core.projects.limits.pace import SMALL_BODY_BYTES
from foilworks.core.text.registry import load, parse_params
from foilworks.site.api.api import api
from foilworks.site.publishing.models import PublicPage
from tests import test_access_matrix as of_pages
from tests import test_api_access_matrix as of_api
from tests.attacks.guards import Guard, guarded_by

pytestmark = pytest.mark.django_db
MOST = 200
MARK = "zQ"
HUGE = MARK * 20_000
VALUES: dict[str, Any] = {
    "a text": HUGE,
    "a list": [HUGE] * 3,
    "an object": {HUGE: HUGE},
    "a number": int("9" * 4000),
}


def _uncut(patch: pytest.MonkeyPatch) -> None:
    """Values whole, as `repr` has them."""
    for name in ("_Short.repr_str", "_Short.repr_int"):
        patch.setattr(f"foilworks.core.text.quoting.{name}", lambda _self, x, _level: repr(x))
    patch.setattr("foilworks.core.text.quoting.shortened.__code__", (lambda text, most=0: text).__code__)


SHORT = Guard("foilworks.core.text.quoting.quoted", "messages quote at most 200 characters of a value", _uncut)


def repeated(answer: str) -> int:
    """How many characters of the longest piece of a huge value the answer repeats."""
    return max((len(found) for found in re.findall(rf"(?:{MARK})+|9+", answer)), default=0)


def without_fields(page: str) -> str:
    """The page without what its form keeps for the person who typed it."""
    page = re.sub(r"<textarea.*?</textarea>", "", page, flags=re.S)
    return html.unescape(re.sub(r'value="[^"]*"', "", page))


def good_record(world: of_pages.World) -> dict[str, Any]:
    release = Release.objects.get(pk=world.values["release"])
    record = release.members.order_by("position").first().record
    return {"id": record["id"], "caption": 1, "foils": [0] * len(record["foils"]), "proficiency": None}


@guarded_by(SHORT)
@pytest.mark.parametrize("kind", VALUES)
def test_scores_of_strangers(kind, client):
    world = of_pages.make_world()
    page = PublicPage.objects.get(key=world.values["public_key"])
    good, huge = good_record(world), VALUES[kind]
    lines = [*({**good, name: huge} for name in good), {HUGE: 1}, {**good, "caption": [huge] * 3}]
    lines += [{**good, "proficiency": {"caption": huge, HUGE: huge}}] * 15
    content = "\n".join(map(json.dumps, lines)).encode()
    about = {"label": "m", "sent_by": "s", "contact": "c", "scores": SimpleUploadedFile("s.jsonl", content)}
    answer = client.post(reverse("publishing:public_scores", args=[page.key]), about)
    assert answer.status_code == 422
    assert "Problems to fix" in answer.content.decode()
    assert repeated(answer.content.decode()) <= MOST
    assert len(answer.content) < SMALL_BODY_BYTES


# Formats that one record of these fields, or of these columns, is enough for.
RECORDS: dict[str, dict[str, Any]] = {
    "jsonl": {
        "id": "a", "video": "a.mp4", "video_key": "k", "caption": "a man sits.", "foils": ["a man stands."],
        "start_time": 0, "end_time": 1, "time_unit": "sec", "split": "train", "votes": {"caption": 3},
        "subtest": "s", "class": "sit", "url": "https://example.org/a", "source_dataset": "d", "source_id": "i",
        "proficiency": {"caption": "a man.", "foil": "a dog."},
    },
    "vitatecs": {
        "src_dataset": "MSR-VTT", "video_name": "v", "caption": "a man sits.", "counterfactual": "a man stands.",
        "aspect": "direction",
    },
    "vilma": {
        "dataset": "d", "youtube_id": "y", "video_file": "v", "caption": "a man sits.", "foil": "a man stands.",
        "start_time": 0, "end_time": 1, "time_unit": "sec", "mturk": {"caption": 3}, "split": "train",
        "proficiency": {"caption": "a man.", "foil": "a dog.", "human": {"caption": 3}},
    },
    "valse": {"dataset": "coco", "image_file": "v", "caption": "a man sits.", "foil": "a man stands.", "mturk": {}},
    "sugarcrepe": {"filename": "v", "caption": "a man sits.", "negative_caption": "a man stands."},
    "csv": {"id": "a", "video": "a.mp4", "caption": "a man sits.", "foil": "a man stands.", "votes_caption": "3"},
    "contrast": {"clip": "c", "ending0": "a man sits.", "ending1": "a man stands.", "label": "0"},
    "feint6k": {"video_id": "v", "sentence": "a man sits."},
    "msrvtt": {"video_id": "v", "sentence": "a man sits."},
    "votes": {"item": "s:a", "foil": "0", "annotator": "p", "choice": "1", "position": "1", "seconds": "1"},
}  # fmt: skip
LINES = {"jsonl", "vitatecs"}
TABLES = {"csv": ",", "contrast": "\t", "feint6k": ",", "msrvtt": ",", "votes": ","}


def spoiled(record: dict[str, Any], huge: Any) -> Iterator[dict[str, Any]]:
    yield {**record, HUGE: huge}
    for name, value in record.items():
        yield {**record, name: huge}
        yield {HUGE if field == name else field: own for field, own in record.items()}
        if isinstance(value, dict):
            yield from ({**record, name: inner} for inner in spoiled(value, huge))


def as_file(slug: str, record: dict[str, Any]) -> str:
    if slug in TABLES:
        out = io.StringIO()
        csv.writer(out, delimiter=TABLES[slug]).writerows([list(record), [_cell(each) for each in record.values()]])
        return out.getvalue()
    return json.dumps(record if slug in LINES else {"1": record})


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@guarded_by(SHORT)
def test_records_of_imports(tmp_path):
    said = [words for slug in RECORDS for words in complaints(slug, tmp_path)]
    assert {len(RECORDS), len(said) > 400} == {10, True}
    assert max(map(repeated, said)) <= MOST
    assert max(map(len, said)) < 2000 + len(str(tmp_path))


def complaints(slug: str, folder: Path) -> Iterator[str]:
    for record in (record for huge in VALUES.values() for record in spoiled(RECORDS[slug], huge)):
        path = folder / f"file.{'csv' if slug in TABLES else 'jsonl' if slug in LINES else 'json'}"
        path.write_text(as_file(slug, record), encoding="utf-8")
        try:
            outcomes = list(load(IMPORTERS[slug]).read(path, params=parse_params(IMPORTERS[slug], {})))
        except CorpusError as error:
            yield str(error)
        else:
            yield from (str(each) for each in outcomes if isinstance(each, BadRecord | RecordWarning))


def fields_of(operation: dict[str, Any]) -> list[str]:
    """Names that the operation's JSON body may have."""
    content = operation.get("requestBody", {}).get("content", {})
    shape = next(iter(content.values()), {}).get("schema", {})
    if "$ref" in shape:
        shape = api.get_openapi_schema()["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    return list(shape.get("properties", ()))


def test_requests_to_the_api(settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    world = of_api.make_api_world()
    headers = of_api.headers_of(world.people["superuser"])
    client, found = Client(), {}
    for name, (method, path) in of_api.OPERATIONS.items():
        operation = api.get_openapi_schema()["paths"][path][method.lower()]
        url = of_api.address(name, world)
        if method == "GET":
            queries = {each["name"]: MARK * 2000 for each in operation.get("parameters", ()) if each["in"] == "query"}
            answers = [client.get(url, {key: value}, headers=headers) for key, value in queries.items()]
            answers += [client.get(url, {MARK * 2000: "x"}, headers=headers)]
        else:
            rule = of_api.RULES[name]
            bodies = [{**(rule.data or {}), key: value} for key in fields_of(operation) for value in VALUES.values()]
            bodies += [{**(rule.data or {}), HUGE: 1}]
            answers = [sent(client, method, url, body, headers) for body in bodies] if not rule.form else []
        for answer in answers:
            if answer.streaming:
                # Read to its end, so that no file stays open.
                b"".join(answer.streaming_content)
            elif answer.status_code >= 400:
                found[name] = max(found.get(name, (0, 0)), (repeated(answer.content.decode()), len(answer.content)))
    assert len(found) > 20
    assert {name: most for name, most in found.items() if most[0] > MOST or most[1] > 10_000} == {}


def sent(client: Client, method: str, url: str, body: Any, headers: dict[str, str]) -> Any:
    with transaction.atomic():
        answer = client.generic(method, url, json.dumps(body), content_type="application/json", headers=headers)
        transaction.set_rollback(True)
    return answer


# These show the text of a guideline as people would read it.
PREVIEWS = {"annotation:guideline", "annotation:subtest_guideline"}
FORMS = [
    name for name, rule in of_pages.RULES.items() if of_pages.NO not in (rule.get, rule.post) and name not in PREVIEWS
]


def test_forms_of_every_page():
    world = of_pages.make_world()
    found, tried = {}, 0
    for name in FORMS:
        may = of_pages.RULES[name].may
        person = world.people["researcher" if "researcher" in may else may[0]]
        url = of_pages.address(name, world)
        page = of_pages.ask(url, "GET", person, {}).body
        names = set(re.findall(r'<(?:input|select|textarea)[^>]*\bname="([^"]+)"', page)) - {"csrfmiddlewaretoken"}
        tried += len(names)
        answer = of_pages.ask(url, "POST", person, dict.fromkeys(names, MARK * 10_000))
        if (most := repeated(without_fields(answer.body + answer.location))) > MOST:
            found[name] = (answer.status, most)
    assert tried > 100
    assert found == {}
