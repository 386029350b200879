"""Whether an uploaded file holds a published set."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0019_texts_beyond_the_limit")]

    operations = [
        migrations.AddField(
            model_name="import",
            name="as_published",
            field=models.BooleanField(default=False, db_default=False),
        ),
    ]
