"""Define the addresses of exports."""

from django.urls import path

from evaluation.exports.views import export

app_name = "exports"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/export/<slug:exporter>/", export, name="export"),
]
