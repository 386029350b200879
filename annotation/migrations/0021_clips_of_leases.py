"""Say of each lease which clip its sentences are about, so that one look at an index decides what a person was shown."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Case, F, OuterRef, Subquery, When


def fill(apps: Any, schema_editor: Any) -> None:
    """Fill the column in one statement, which can be run again; no row is read into memory."""
    leases = apps.get_model("annotation", "Lease")._base_manager.using(schema_editor.connection.alias)
    own = leases.filter(pk=OuterRef("pk"))
    clip = Case(
        When(slot__task__gold__mismatched=True, then=F("slot__task__gold__item__video")),
        default=F("slot__video"),
    )
    leases.filter(caption_video=None).update(caption_video=Subquery(own.values(clip=clip)[:1]))


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0020_gold_waits"),
        ("corpus", "0015_frame_times_of_videos"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="lease",
            name="caption_video",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.video",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(fields=["person", "caption_video"], name="lease_by_person_and_clip"),
        ),
        migrations.AlterField(
            model_name="lease",
            name="person",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="leases",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
