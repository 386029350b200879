"""The table of URLs; every one of them has a rule in tests/test_access_matrix.py."""

from django.urls import include, path

from foilworks.views.healthz import healthz
from foilworks.views.home import home

urlpatterns = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("", include("projects.urls")),
    path("", include("corpus.urls")),
    path("", include("generation.urls")),
    path("", include("annotation.urls")),
    path("", include("evaluation.urls")),
]
