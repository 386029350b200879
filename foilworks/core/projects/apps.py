from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "foilworks.core.projects"
    verbose_name = "Projects and people"
