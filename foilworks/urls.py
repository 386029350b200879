"""The table of URLs; every one of them has a rule in tests/test_access_matrix.py."""

from django.urls import include, path

urlpatterns = [
    path("", include("projects.urls")),
]
