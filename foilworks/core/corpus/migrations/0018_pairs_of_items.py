"""Give items the name that the two items of a two-clip item share."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0017_project_of_items"),
    ]

    operations = [
        migrations.AddField("item", "pair", models.CharField(blank=True, db_default="", default="", max_length=200)),
        migrations.AddIndex(
            "item",
            models.Index(condition=models.Q(("pair__gt", "")), fields=["subtest", "pair"], name="item_pair"),
        ),
    ]
