"""The tables of 0.1.0 (4fafc4b), in place of the migrations that led to them."""

import foilworks.core.corpus.rules.states
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("corpus", "0001_initial"),
        ("corpus", "0002_initial"),
        ("corpus", "0003_blind_bar"),
        ("corpus", "0004_stop_early"),
        ("corpus", "0005_caption_revisions"),
        ("corpus", "0006_content_warnings_and_takedowns"),
        ("corpus", "0007_videos_at_their_address"),
        ("corpus", "0008_no_index_twice"),
        ("corpus", "0009_item_facts"),
        ("corpus", "0010_trims_in_frames"),
    ]

    dependencies = [
        ("projects", "0001_squashed_0_2"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Caption",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("text_sha256", models.CharField(max_length=64)),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("flagged_false", models.BooleanField(default=False)),
                (
                    "doubt_settled",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("corrected", "corrected"),
                            ("confirmed", "confirmed as true"),
                            ("dropped", "dropped with its video's items"),
                        ],
                        max_length=9,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "revises",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="revision",
                        to="corpus.caption",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120)),
                ("content_hash", models.CharField(max_length=64)),
                ("n_items", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="releases",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Subtest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120)),
                (
                    "test",
                    models.CharField(
                        blank=True, help_text="The phenomenon that several subtests share.", max_length=120
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("main", "main"), ("proficiency", "proficiency")], default="main", max_length=12
                    ),
                ),
                (
                    "changes",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "whatever its method changes"),
                            ("action", "the action, while people and things stay (counterfactuals, Feint6K)"),
                        ],
                        default="",
                        max_length=6,
                    ),
                ),
                ("foils_per_item", models.PositiveSmallIntegerField(default=1)),
                ("votes_wanted", models.PositiveSmallIntegerField(default=3)),
                ("votes_needed", models.PositiveSmallIntegerField(default=2)),
                ("stop_early", models.BooleanField(default=False)),
                (
                    "valid_when",
                    models.CharField(
                        choices=[
                            ("all", "all its caption-foil pairs are valid"),
                            ("enough", "enough of its pairs are valid; invalid foils drop out"),
                        ],
                        default="all",
                        max_length=6,
                    ),
                ),
                ("foils_enough", models.PositiveSmallIntegerField(default=1)),
                ("blind_bar", models.FloatField(blank=True, null=True)),
                (
                    "proficiency_subtest",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="mains",
                        to="corpus.subtest",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subtests",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("in_validation", "in_validation"),
                            ("valid", "valid"),
                            ("invalid", "invalid"),
                            ("split", "split"),
                            ("requeued", "requeued"),
                            ("retracted", "retracted"),
                        ],
                        max_length=13,
                    ),
                ),
                ("unanimous", models.BooleanField(blank=True, null=True)),
                ("extra", models.JSONField(blank=True, default=dict)),
                ("facts", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "caption",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="corpus.caption"
                    ),
                ),
                (
                    "proficiency_item",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="main_items",
                        to="corpus.item",
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="corpus.subtest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Video",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(help_text="The clip's id in its source, trim included.", max_length=200)),
                ("file", models.FileField(blank=True, max_length=300, upload_to="")),
                ("url", models.URLField(blank=True, max_length=1000)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                (
                    "media_state",
                    models.CharField(
                        choices=[
                            ("missing", "missing"),
                            ("ready", "ready"),
                            ("elsewhere", "played from its address"),
                            ("broken", "broken"),
                            ("taken_down", "taken down"),
                        ],
                        default="missing",
                        max_length=10,
                    ),
                ),
                ("media_error", models.CharField(blank=True, max_length=500)),
                (
                    "start_time",
                    models.FloatField(blank=True, help_text="seconds, pts or frames, as the time unit says", null=True),
                ),
                ("end_time", models.FloatField(blank=True, null=True)),
                (
                    "time_unit",
                    models.CharField(
                        choices=[("sec", "sec"), ("pts", "pts"), ("frames", "frames")], default="sec", max_length=6
                    ),
                ),
                ("duration", models.FloatField(blank=True, help_text="of the whole file, in seconds", null=True)),
                ("fps", models.FloatField(blank=True, null=True)),
                ("n_frames", models.PositiveIntegerField(blank=True, null=True)),
                ("width", models.PositiveIntegerField(blank=True, null=True)),
                ("height", models.PositiveIntegerField(blank=True, null=True)),
                ("source_dataset", models.CharField(blank=True, max_length=100)),
                (
                    "source_id",
                    models.CharField(blank=True, help_text="The uncut video's id in its dataset.", max_length=200),
                ),
                (
                    "split",
                    models.CharField(
                        blank=True,
                        choices=[("", "none"), ("train", "train"), ("val", "val"), ("test", "test")],
                        max_length=5,
                    ),
                ),
                ("class_label", models.CharField(blank=True, max_length=200)),
                ("category", models.CharField(blank=True, max_length=200)),
                ("movie", models.CharField(blank=True, max_length=200)),
                ("content_warning", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="videos",
                        to="projects.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Takedown",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(blank=True, db_index=True, max_length=64)),
                ("reason", models.CharField(max_length=500)),
                ("taken_down_at", models.DateTimeField()),
                (
                    "taken_down_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "video",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="takedown", to="corpus.video"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReleaseItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("record", models.JSONField()),
                (
                    "item",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="released_as",
                        to="corpus.item",
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="corpus.release",
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="corpus.video"
                    ),
                ),
            ],
            options={
                "ordering": ["release_id", "position"],
            },
        ),
        migrations.AddField(
            model_name="item",
            name="video",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="items", to="corpus.video"
            ),
        ),
        migrations.AddField(
            model_name="caption",
            name="video",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="captions", to="corpus.video"
            ),
        ),
        migrations.CreateModel(
            name="Foil",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                ("text", models.TextField()),
                ("text_sha256", models.CharField(max_length=64)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("valid", "valid"),
                            ("invalid", "invalid"),
                            ("split", "split"),
                        ],
                        default=foilworks.core.corpus.rules.states.FoilVerdict["PENDING"],
                        max_length=7,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="foils",
                        to="corpus.item",
                    ),
                ),
            ],
            options={
                "ordering": ["item_id", "position"],
                "constraints": [models.UniqueConstraint(fields=("item", "position"), name="one_foil_a_position")],
            },
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="one_release_a_name"),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.UniqueConstraint(fields=("project", "content_hash"), name="one_release_a_content"),
        ),
        migrations.AddConstraint(
            model_name="subtest",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="one_subtest_a_name"),
        ),
        migrations.AddConstraint(
            model_name="subtest",
            constraint=models.CheckConstraint(condition=models.Q(("foils_per_item__gte", 1)), name="at_least_one_foil"),
        ),
        migrations.AddConstraint(
            model_name="subtest",
            constraint=models.CheckConstraint(
                condition=models.Q(("votes_needed__lte", models.F("votes_wanted"))), name="needed_votes_exist"
            ),
        ),
        migrations.AddIndex(
            model_name="video",
            index=models.Index(fields=["project", "media_state"], name="video_media_state"),
        ),
        migrations.AddConstraint(
            model_name="video",
            constraint=models.UniqueConstraint(fields=("project", "key"), name="one_video_a_key"),
        ),
        migrations.AddConstraint(
            model_name="releaseitem",
            constraint=models.UniqueConstraint(fields=("release", "position"), name="one_member_a_position"),
        ),
        migrations.AddConstraint(
            model_name="releaseitem",
            constraint=models.UniqueConstraint(fields=("release", "item"), name="one_member_an_item"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["subtest", "state"], name="item_state"),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(fields=("subtest", "key"), name="one_item_a_key"),
        ),
        migrations.AddConstraint(
            model_name="caption",
            constraint=models.UniqueConstraint(fields=("video", "text_sha256"), name="one_caption_a_video_text"),
        ),
    ]
