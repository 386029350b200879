from django.apps import AppConfig
from django.conf import settings


class FoilworksConfig(AppConfig):
    name = "foilworks"
    verbose_name = "Foilworks"

    def ready(self) -> None:
        if settings.SENTRY_DSN:
            from foilworks.monitoring.error_reports import report_errors

            report_errors(settings.SENTRY_DSN)
