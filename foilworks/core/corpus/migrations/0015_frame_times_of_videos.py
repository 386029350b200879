"""Give videos the clock of their file, how it was converted, and their film strip."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0013_as_published"),
    ]

    operations = [
        migrations.AddField(
            model_name="video",
            name="conversion",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
        migrations.AddField(
            model_name="video",
            name="frame_times",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="video",
            name="film_strip",
            field=models.FileField(blank=True, db_default="", default="", max_length=200, upload_to=""),
        ),
    ]
