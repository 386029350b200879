"""`foilworks verify` of exports that older versions wrote, whose words were those of English alone."""

import json

import pytest
from django.core.management import call_command

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.export_formats.parts.folder import pretty
from foilworks.site.exports.verify import verify
from tests import factories
from tests.evaluation.older_exports import refresh, rewrite_table, without_unjudged

pytestmark = [pytest.mark.django_db, pytest.mark.full]


def exported(folder, caption, foil):
    """An export of one item."""
    project = factories.make_project(slug="words", blind_bar=1.0)
    subtest = factories.make_subtest(project)
    of_video = factories.make_caption(factories.make_video(project), caption)
    factories.make_item(subtest, of_video, (foil,), state="valid")
    frozen = freeze_release(None, project)
    call_command("export", "foilworks", "--project", "words", "--release", str(frozen.pk), "--out", str(folder))
    return folder


def test_tables_of_a_layout_3_export_are_compared_for_ascii_words(tmp_path):
    export = exported(tmp_path / "x", "he opens the door", "he closes the door")
    rewrite_table(export, "blind", without_unjudged)
    assert verify(export).get("difference") is None
    rewrite_table(export, "blind", lambda table: table["overall"].update(n_lexical_items=99))
    assert "tables/blind.json: overall.n_lexical_items is 99" in verify(export)["difference"]


def test_other_words_of_a_layout_3_export_are_verified_by_digest(tmp_path):
    export = exported(tmp_path / "x", "er öffnet die Tür", "er schließt die Tür")
    rewrite_table(export, "blind", without_unjudged)
    # "ffnet" against "schlie" and "t".
    rewrite_table(export, "divergence", lambda table: table.update(n_lexical_items=3))
    assert verify(export).get("difference") is None
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    (export / "manifest.json").write_text(pretty({**manifest, "layout_version": 4}), encoding="utf-8")
    refresh(export)
    assert "tables/divergence.json: n_lexical_items is 3" in verify(export)["difference"]
