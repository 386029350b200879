"""Items that count as valid on their publisher's word, and how many of them a release holds."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0012_split_becomes_disputed")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="as_published",
            field=models.BooleanField(default=False, db_default=False),
        ),
        migrations.AddField(
            model_name="release",
            name="n_as_published",
            field=models.PositiveIntegerField(default=0, db_default=0),
        ),
    ]
