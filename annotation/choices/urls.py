"""Address of the page that composes multiple-choice items."""

from django.urls import path

from annotation.choices.views import choices

app_name = "choices"
urlpatterns = [path("projects/<slug:slug>/choices/", choices, name="choices")]
