from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "foilworks.core.jobs"
    verbose_name = "Jobs"
