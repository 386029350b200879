"""Store which items of a release are private, and the hash of the others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0018_pairs_of_items"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="n_private",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="release",
            name="public_hash",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="releaseitem",
            name="is_private",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
