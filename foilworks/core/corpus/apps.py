from django.apps import AppConfig


class CorpusConfig(AppConfig):
    name = "foilworks.core.corpus"
    verbose_name = "Videos, captions, items"
