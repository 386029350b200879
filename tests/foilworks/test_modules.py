"""Scripts are plain ES modules: pages preload what their entries import, at addresses that browsers keep for good."""

import posixpath
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.test import Client

from foilworks.setting_values import digest

[STATIC] = map(Path, settings.STATICFILES_DIRS)
IMPORT = re.compile(r'^(?:import .*|\} )from "([^"]+)";', re.MULTILINE)
PRELOADED = re.compile(r'<link rel="modulepreload" href="([^"]+)">')
ENTRY = re.compile(r'<script type="module" src="([^"]+)"></script>')


def imported(module: str) -> set[str]:
    """All modules that the module imports, at however many removes."""
    text = (STATIC / module).read_text(encoding="utf-8")
    direct = {posixpath.normpath(posixpath.join(posixpath.dirname(module), name)) for name in IMPORT.findall(text)}
    return direct.union(*map(imported, direct))


@pytest.mark.parametrize(
    ("template", "beside"),
    [
        ("foilworks/_app_modules.html", ""),
        ("foilworks/_video_modules.html", "foilworks/app.js"),
        ("annotation/_work_modules.html", "foilworks/app.js"),
    ],
)
def test_a_page_preloads_what_its_scripts_import_and_nothing_else(template, beside):
    page = render_to_string(template)
    [entry] = (address.removeprefix(settings.STATIC_URL) for address in ENTRY.findall(page))
    listed = [address.removeprefix(settings.STATIC_URL) for address in PRELOADED.findall(page)]
    assert imported(entry)
    assert listed == sorted(imported(entry) - (imported(beside) if beside else set()))


@pytest.mark.django_db
def test_a_static_file_is_kept_for_good_at_an_address_that_changes_with_it(tmp_path):
    for name, text in {"a.js": "1", "b/c.css": "2"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    first = digest(tmp_path, "1.0")
    assert re.fullmatch("[0-9a-f]{12}", first)
    assert digest(tmp_path, "1.0") == first != digest(tmp_path, "1.1")
    (tmp_path / "b/c.css").write_text("3")
    assert digest(tmp_path, "1.0") != first
    answer = Client().get(static("foilworks/dom.js"))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, 'text/javascript; charset="utf-8"')
    assert answer.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    answer.close()
