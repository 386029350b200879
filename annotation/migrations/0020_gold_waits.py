"""Gold is chosen before it is due, and every piece is drawn by itself."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_words_of_involvement")]

    operations = [
        migrations.AddField("Standing", "gold_ahead", models.JSONField(default=list, null=True)),
    ]
