"""Sign-in, the list of projects."""

from django.urls import URLPattern

app_name = "projects"
urlpatterns: list[URLPattern] = []
