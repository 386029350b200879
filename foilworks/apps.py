from django.apps import AppConfig


class FoilworksConfig(AppConfig):
    name = "foilworks"
    verbose_name = "Foilworks"
