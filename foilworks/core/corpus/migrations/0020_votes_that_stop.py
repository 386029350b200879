"""Store how many votes a pair gets that divides people, and the share of items that are always judged in full."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0019_holdback")]

    operations = [
        migrations.AddField(
            model_name="subtest",
            name="full_share",
            field=models.FloatField(
                db_default=0.0, default=0.0, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
            ),
        ),
        migrations.AddField(
            model_name="subtest",
            name="votes_max",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="subtest",
            name="skilled_first",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
