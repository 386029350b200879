"""List what a project can use: foil methods, filters, caption makers, formats, reports, with their parameters."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from ninja import Schema

from evaluation.analyses.registry import REPORTS
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.text.registry import Entry, Param
from foilworks.site.api.rows import Call, Rows
from foilworks.site.api.shapes import Anything
from generation.captioning.registry import CAPTIONERS
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS

TABLES: dict[str, Mapping[str, Entry]] = {
    "methods": METHODS,
    "filters": FILTERS,
    "captioners": CAPTIONERS,
    "importers": IMPORTERS,
    "exporters": EXPORTERS,
    "reports": REPORTS,
}
TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "choice": "string"}


class EntryOut(Schema):
    """`params`: JSON schema of the parameters; `origin`: name and version of the plug-in that adds it."""

    table: str
    slug: str
    label: str
    summary: str
    kind: str
    origin: str
    params: Anything


def params_schema(entry: Entry) -> dict[str, Any]:
    """Return the JSON schema of the parameters of an entry."""
    properties = {param.name: _schema_of(param) for param in entry.params}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _schema_of(param: Param) -> dict[str, Any]:
    kind = {"type": TYPES[param.kind]} if param.kind in TYPES else {}
    choices = {"enum": list(param.choices)} if param.choices else {}
    return {**kind, **choices, "default": param.default, "description": param.help}


def _out(table: str, slug: str, entry: Entry) -> EntryOut:
    about = {name: str(getattr(entry, name)) for name in ("label", "summary", "kind", "origin")}
    return EntryOut(table=table, slug=slug, **about, params=params_schema(entry))


def _entry(call: Call) -> EntryOut:
    if call.entry not in TABLES.get(call.table, {}):
        raise Http404(_("Not found. The list of methods has all names."))
    return _out(call.table, call.entry, TABLES[call.table][call.entry])


rows = Rows("methods", in_project=False)
rows.read(
    "",
    "list_methods",
    "List methods, filters, caption makers, formats and reports, each with the JSON schema of its parameters.",
    lambda _call: [_out(name, slug, entry) for name, table in TABLES.items() for slug, entry in table.items()],
    list[EntryOut],
)
rows.read("/{slug:table}/{slug:entry}", "read_method", "Get one of them.", _entry, EntryOut)
