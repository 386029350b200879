"""Scripts are plain ES modules that share one file of helpers, at addresses that browsers cache for good."""

import posixpath
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.test import Client

from foilworks.site.setting_values import digest

STATIC = Path(settings.BASE_DIR) / "static"
IMPORT = re.compile(r'^(?:import .*|\} )from "([^"]+)";', re.MULTILINE)
PRELOADED = re.compile(r'<link rel="modulepreload" href="([^"]+)">')


def test_a_script_imports_only_what_every_page_preloads():
    """Otherwise a page would load one file after the other, and needs more requests than its template shows."""
    [helpers] = PRELOADED.findall(render_to_string("foilworks/base.html"))
    scripts = [path for path in STATIC.rglob("*.js") if static(path.relative_to(STATIC).as_posix()) != helpers]
    assert len(scripts) > 5
    for path in scripts:
        names = IMPORT.findall(path.read_text(encoding="utf-8"))
        folder = path.parent.relative_to(STATIC).as_posix()
        assert {static(posixpath.normpath(posixpath.join(folder, name))) for name in names} <= {helpers}, path.name


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
