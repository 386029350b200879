"""Files of another project: no text of a page or operation opens one, stores its name for a job, or shows its path.

The document of the API and the forms of the pages are the lists, so a parameter that is added is tried as well.
Commands are the operator's, who may name any file.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client

from foilworks.core.projects.personal_data import declared
from foilworks.site.api.api import api
from generation.captioning.registry import CAPTIONERS
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from tests import test_access_matrix as pages
from tests import test_api_access_matrix as operations
from tests.attacks.guards import guarded_by
from tests.attacks.test_paths import MINE
from tests.test_access_matrix import World, worlds, worlds_of_the_file  # noqa: F401 - fixtures
from tests.test_api_access_matrix import OPERATIONS, headers_of

pytestmark = [pytest.mark.django_db, pytest.mark.full]
SECRET = "the-other-projects-file"
# Columns whose text is what a person writes: nothing opens it.
WRITTEN = {
    (model._meta.db_table, model._meta.get_field(name).column)
    for model, data in declared()
    for name in (*data.free_text, *data.json_text)
}
# Columns with names and words that people choose: nothing opens them.
WORDS = frozenset(
    {"name", "label", "title", "description", "question", "text", "content_warning", "licence", "reason"}
    | {"abstract", "authors", "doi"}
)
# The name of a subtest, and an instruction to a model.
CHOSEN = {("create_subtest", "test"), ("create_import", "subtest"), ("write_prompt", "system")}
_OPENED: list[str] = []
_IS_WATCHED = [False]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _IS_WATCHED[0] and event in {"open", "os.listdir", "os.scandir"} and SECRET in str(arguments[0]):
        _OPENED.append(f"{event} {arguments[0]}")


sys.addaudithook(_watch)


@contextmanager
def watched() -> Iterator[list[str]]:
    _OPENED.clear()
    _IS_WATCHED[0] = True
    try:
        yield _OPENED
    finally:
        _IS_WATCHED[0] = False


@pytest.fixture
def foreign(worlds, tmp_path, monkeypatch) -> list[str]:  # noqa: F811
    """What somebody may write to reach a model, an upload, an export, a cached file or a video of the other project."""
    _world, other = worlds
    project = other.people["researcher"].memberships.get().project
    roots = {name: tmp_path / name.lower() for name in ("MODEL_ROOT", "EXPORT_ROOT", "CACHE_ROOT")}
    for name, root in roots.items():
        monkeypatch.setattr(settings, name, root)
    own = f"projects/{project.pk}/{SECRET}"
    folders = (roots["MODEL_ROOT"] / own, roots["EXPORT_ROOT"] / SECRET, roots["CACHE_ROOT"] / SECRET)
    for folder in (*folders, Path(settings.UPLOAD_ROOT) / SECRET, Path(settings.MEDIA_ROOT) / SECRET):
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("config.json", "scores.jsonl", "clip.mp4"):
            (folder / file).write_text("{}")
    model, scores = folders[0], Path(settings.UPLOAD_ROOT) / SECRET / "scores.jsonl"
    return [str(model), f"clip:openai/clip?tokenizer={model}", f"file:{scores}", f"tiny:../{project.pk}/{SECRET}"]


def stored() -> set[tuple[str, str]]:
    """(table, column) of each stored text that names the file, without what people write."""
    named = set()
    with connection.cursor() as cursor:
        for table in set(connection.introspection.table_names(cursor)):
            cursor.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                if SECRET in repr(row):
                    named |= {
                        (table, column) for column, value in zip(columns, row, strict=True) if SECRET in str(value)
                    }
    return {(table, column) for table, column in named - WRITTEN if column not in WORDS}


def problems_of(label: str, send: Any, root: str) -> list[str]:
    """Send one request and take back what it wrote; return what it did with the file."""
    with transaction.atomic(), watched() as opened:
        try:
            response = send()
        except Exception as error:  # noqa: BLE001
            transaction.set_rollback(True)
            return [f"{label}: {type(error).__name__} {error}"]
        content = b"".join(response.streaming_content) if response.streaming else response.content
        named = stored() if response.status_code < 400 else set()
        transaction.set_rollback(True)
    shown = [f"{label}: shows the path"] if root.encode() in content else []
    return [*shown, *(f"{label}: {event}" for event in opened), *(f"{label}: stored in {place}" for place in named)]


def text_fields(schema: dict[str, Any], components: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The paths of the texts of a body, from its schema."""
    schema = components[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for part in schema.get("anyOf", schema.get("allOf", ())):
        yield from text_fields(part, components)
    if schema.get("type") == "string" and "enum" not in schema:
        yield ()
    for name, inner in schema.get("properties", {}).items():
        yield from ((name, *path) for path in text_fields(inner, components))
    if schema.get("type") == "array":
        yield from (("[]", *path) for path in text_fields(schema["items"], components))


def with_text(data: Any, path: tuple[str, ...], text: str) -> Any:
    if not path:
        return text
    if path[0] == "[]":
        return [with_text(None, path[1:], text)]
    data = data if isinstance(data, dict) else {}
    return {**data, path[0]: with_text(data.get(path[0]), path[1:], text)}


def _sent(value: Any) -> Any:
    return operations.file(*value) if isinstance(value, tuple) else value


def bodies() -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """(operation, path of a text, what else it needs) of every text of every operation."""
    document = api.get_openapi_schema()
    components = document["components"]["schemas"]
    for name, (method, path) in OPERATIONS.items():
        for content in document["paths"][path][method.lower()].get("requestBody", {}).get("content", {}).values():
            yield from ((name, field, {}) for field in sorted(set(text_fields(content["schema"], components))))
    # Parameters that a registry lists.
    for slug, entry in METHODS.items():
        named = [param.name for param in entry.params if param.kind == "str"]
        yield from (("start_run", ("params", name), {"method": slug}) for name in named)
        yield from (("preview_run", ("params", name), {"method": slug}) for name in named)
    for slug, entry in FILTERS.items():
        named = [param.name for param in entry.params if param.kind == "str"]
        yield from (("start_run", ("filters", slug, name), {}) for name in named)
    for slug, entry in CAPTIONERS.items():
        named = [param.name for param in entry.params if param.kind == "str"]
        yield from (("preview_captions", ("params", name), {"maker": slug}) for name in named)


@guarded_by(MINE)
def test_no_text_of_an_operation_reaches_a_file_of_another_project(worlds, foreign, settings):  # noqa: F811
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    world = operations.make_api_world()
    headers, client, problems, tried = headers_of(world.people["researcher"]), Client(), [], set()
    for name, path, more in bodies():
        rule, (method, _path) = operations.RULES[name], OPERATIONS[name]
        if "researcher" not in rule.may or method == "GET" or (name, *path) in CHOSEN:
            continue
        data = {key: operations._value(value, world) for key, value in (rule.data or {}).items()} | more
        url = operations.address(name, world)
        for text in foreign:
            body = with_text(data, path, text)
            if rule.form:
                sent: dict[str, Any] = {"data": {key: _sent(value) for key, value in body.items()}}
            else:
                sent = {"data": json.dumps(body), "content_type": "application/json"}
            send = partial(getattr(client, method.lower()), url, headers=headers, **sent)
            problems += problems_of(f"{name} {'.'.join(path)} {text}", send, str(settings.MODEL_ROOT))
        tried.add((name, path))
    assert len(tried) > 150
    assert not problems, "\n".join(problems)


class Fields(HTMLParser):
    """The names of the fields of a page, and what they hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        if tag in {"input", "textarea", "select"} and told.get("name") and told.get("type") not in {"file", "submit"}:
            self.values.setdefault(told["name"] or "", told.get("value") or "")


def test_no_text_of_a_page_reaches_a_file_of_another_project(worlds, foreign):  # noqa: F811
    world, _other = worlds
    person, problems, tried = world.people["researcher"], [], set()
    client = Client()
    client.force_login(person)
    for name, rule in pages.RULES.items():
        if "researcher" not in rule.may or not rule.slug:
            continue
        url = pages.address(name, world)
        page = client.get(url)
        shown = Fields(page.content.decode()).values if not page.streaming and page.status_code == 200 else {}
        texts = {**shown, **{key: value for key, value in rule.data.items() if isinstance(value, str)}}
        for field in texts.keys() - {"csrfmiddlewaretoken"}:
            # A page takes the time of several operations.
            requests = [("get", foreign[1]), *(("post", text) for text in foreign[:2] if rule.post != pages.NO)]
            for method, text in requests:
                send = partial(getattr(client, method), url, {**texts, **rule.data, field: text})
                problems += problems_of(f"{name} {method} {field} {text}", send, str(settings.MODEL_ROOT))
            tried.add((name, field))
    assert len(tried) > 150
    assert not problems, "\n".join(problems)
