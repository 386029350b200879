"""Make an operation of one row: its address, the page's form, the action or query that it calls, its answer.

A row says what is special about an operation. Tokens, access, keys, pages of lists and errors are the same for all.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any, Literal
from uuid import UUID

from django import forms
from django.db.models import JSONField, Model, Q, QuerySet
from django.http import HttpRequest
from ninja import File, Form, Query, Router, Schema, Status, UploadedFile
from ninja.orm import create_schema
from pydantic import BaseModel, create_model

from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Project, Role, User
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.imports import JobOut
from foilworks.site.api.page_forms import FormBody, body_of, filled
from foilworks.site.api.paging import Listed, Page, only_known, page_of
from foilworks.site.api.shapes import Anything, Slug, Word

PARAMETER = re.compile(r"{(int|slug|uuid):(\w+)}")
KINDS: dict[str, type] = {"int": int, "slug": str, "uuid": UUID}
SLUG = "slug"


class Call:
    """One request to an operation of a row: who asks, for which rows, with which fields."""

    def __init__(
        self, request: HttpRequest, path: Mapping[str, Any], query: Any, get: Callable[..., Any] | None
    ) -> None:
        self.request, self.path, self.query = request, path, query
        self._get: Any = get
        self.body: dict[str, Any] = {}
        self.form: Any = None

    def __getattr__(self, name: str) -> Any:
        """Return a parameter of the path."""
        try:
            return self.__dict__["path"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def person(self) -> User:
        person: User = self.request.user
        return person

    @cached_property
    def project(self) -> Project:
        """Return the project, for a researcher of it."""
        return self.entered(Role.RESEARCHER)

    def entered(self, *roles: str) -> Project:
        """Return the project, for somebody with one of the roles; without roles, for every member."""
        return get_project(self.person, self.path[SLUG], *roles)

    @cached_property
    def row(self) -> Any:
        """Return the row that the path names, by the access function of its page."""
        return self._get(self.person, *self.path.values())

    def check_access(self) -> None:
        """Read what the operation is about. Http404 or AccessDenied: the person may not."""
        _ = self.project if self._get is None else self.row

    @property
    def values(self) -> dict[str, Any]:
        """Return the cleaned fields of the page's form."""
        return dict(self.form.cleaned_data)


Act = Callable[[Call], Any]


def shape_of(model: type[Model], *fields: str, job: bool = False, name: str = "", **more: Any) -> type[Schema]:
    """Return the schema of rows of a model; `job`: with the progress of their job; `more`: {name: type} of others."""
    # JSON is of any type, which the columns do not know.
    json_fields = [field for field in fields if isinstance(model._meta.get_field(field), JSONField)]
    custom = [(field, Any, None) for field in json_fields]
    custom += [*([("job", JobOut | None, None)] if job else []), *((key, kind, None) for key, kind in more.items())]
    columns = [field for field in fields if field not in json_fields]
    schema: type[Schema] = create_schema(
        model, name=name or f"{model.__name__}Row", fields=columns, custom_fields=custom or None
    )
    return schema


class Rows:
    """Operations of one resource, below the address of a project or, if not `in_project`, of the API.

    `checks_role`: only researchers get further, whatever they send. Without it, the functions of the rows check.
    """

    def __init__(self, tag: str, *, in_project: bool = True, checks_role: bool = True) -> None:
        self.router, self.in_project = Router(tags=[tag]), in_project
        self.checks_role = in_project and checks_role

    def read(
        self,
        path: str,
        name: str,
        about: str,
        find: Act,
        shape: Any = Anything,
        *,
        get: Any = None,
        query: Any = None,
        is_open: bool = False,
    ) -> None:
        """Add a GET of what `find` returns. `get`: access function of the row that the path names.

        `is_open`: `find` checks the parameters itself.
        """
        self._add("get", path, name, about, find, responses=reads(shape), get=get, query=query, is_open=is_open)

    def listed(
        self,
        path: str,
        name: str,
        about: str,
        rows: Callable[[Call], QuerySet[Any]],
        shape: Any,
        *,
        orders: Sequence[str] = ("-id", "id"),
        filters: Mapping[str, Any] | None = None,
        search: Sequence[str] = (),
        out: Callable[[Any], Any] = lambda row: row,
        get: Any = None,
    ) -> None:
        """Add a GET of pages of rows; the first of `orders` is the default; `filters`: {column: type}.

        `search`: columns that contain the words of `q`.
        """
        asked = {column: (kind | None, None) for column, kind in (filters or {}).items()}
        words = {"q": (Word, "")} if search else {}
        order = (Literal[tuple(orders)], orders[0])
        query = create_model(f"{_camel(name)}Asked", __base__=Listed, order=order, **asked, **words)

        def answer(call: Call) -> Any:
            chosen = {column: getattr(call.query, column) for column in asked}
            found = rows(call).filter(**{column: value for column, value in chosen.items() if value is not None})
            if text := getattr(call.query, "q", ""):
                found = found.filter(Q.create([(f"{column}__icontains", text) for column in search], connector=Q.OR))
            return page_of(call.request, found, call.query, out, order=call.query.order)

        self._add("get", path, name, about, answer, responses=reads(Page[shape]), get=get, query=query)

    def write(
        self,
        path: str,
        name: str,
        about: str,
        act: Act,
        *,
        method: str = "post",
        form: type[forms.BaseForm] | None = None,
        make: Callable[..., forms.BaseForm] | None = None,
        body: type[BaseModel] | None = None,
        shape: Any = Anything,
        status: int = 200,
        get: Any = None,
        query: Any = None,
        files: Sequence[str] = (),
        is_open: bool = False,
        **more: Any,
    ) -> None:
        """Add a write; `form`: the page's form, which `make(call, *data)` makes if it needs rows; `act`: the action.

        `body`: the schema without a form. `files`: the uploads of a multipart request. `more`: other responses.
        """
        schema = body or (body_of(form, f"{_camel(name)}In", is_open=is_open) if form else None)
        maker = make or (lambda _call, *sent: form(*sent))

        def answer(call: Call) -> Any:
            if form is not None:
                uploads = {field: call.request.FILES[field] for field in files if field in call.request.FILES}
                call.form = filled(lambda *sent: maker(call, *sent), call.body, uploads if files else None)
            return Status(status, act(call) if status != 204 else _nothing(act(call)))

        responses = writes(None if status == 204 else shape, status, **more)
        self._add(
            method, path, name, about, answer, responses=responses, get=get, query=query, body=schema, files=files
        )

    def _add(
        self,
        method: str,
        path: str,
        name: str,
        about: str,
        answer: Act,
        *,
        responses: Any,
        get: Any = None,
        query: Any = None,
        body: Any = None,
        files: Sequence[str] = (),
        is_open: bool = False,
    ) -> None:
        names = {SLUG: str} if self.in_project else {}
        names |= {parameter: KINDS[kind] for kind, parameter in PARAMETER.findall(path)}

        def operation(request: HttpRequest, **arguments: Any) -> Any:
            sent, asked = arguments.get("body"), arguments.get("query")
            if method == "get" and not is_open:
                only_known(request, asked)
            call = Call(request, {parameter: arguments[parameter] for parameter in names}, asked, get)
            if self.checks_role:
                # Before the form says anything: its choices are rows of the project.
                call.check_access()
            if sent is not None:
                call.body = sent.model_dump(exclude_unset=isinstance(sent, FormBody))
            return answer(call)

        operation.__name__, operation.__doc__ = name, about
        operation.__signature__ = _signature(names, query, body, files)
        add = getattr(self.router, method)(path, response=responses)
        add(operation if method == "get" else once(operation))


def _nothing(_result: Any) -> None:
    """Drop what an action returns, for a response without content."""


def _signature(path: Mapping[str, type], query: Any, body: Any, files: Sequence[str]) -> Signature:
    """Return the parameters of an operation, as the API reads them from a function."""
    parameters = [Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=HttpRequest)]
    # The project's slug is in the prefix of the routers, which do not declare it.
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=Slug if name == SLUG else kind)
        for name, kind in path.items()
    ]
    if query is not None:
        parameters.append(Parameter("query", Parameter.KEYWORD_ONLY, annotation=Query[query]))
    if body is not None:
        parameters.append(Parameter("body", Parameter.KEYWORD_ONLY, annotation=Form[body] if files else body))
    parameters += [
        Parameter(field, Parameter.KEYWORD_ONLY, annotation=UploadedFile, default=File(...)) for field in files
    ]
    return Signature(parameters)


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
