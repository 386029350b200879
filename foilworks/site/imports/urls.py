"""Define the addresses of imports."""

from django.urls import path

from foilworks.site.imports.part_views import file_part, new_file, object_part
from foilworks.site.imports.table_views import columns
from foilworks.site.imports.views import confirm, discard, import_page, import_progress, new_import, strip, undo

app_name = "imports"
urlpatterns = [
    path("projects/<slug:slug>/imports/", new_import, name="new_import"),
    path("projects/<slug:slug>/imports/files/", new_file, name="new_file"),
    path("projects/<slug:slug>/imports/files/<str:token>/", file_part, name="file"),
    path("projects/<slug:slug>/imports/objects/<str:token>/", object_part, name="object"),
    path("projects/<slug:slug>/imports/<int:pk>/", import_page, name="import"),
    path("projects/<slug:slug>/imports/<int:pk>/progress/", import_progress, name="import_progress"),
    path("projects/<slug:slug>/imports/<int:pk>/strips/<int:number>/", strip, name="strip"),
    path("projects/<slug:slug>/imports/<int:pk>/columns/", columns, name="import_columns"),
    path("projects/<slug:slug>/imports/<int:pk>/confirm/", confirm, name="confirm_import"),
    path("projects/<slug:slug>/imports/<int:pk>/discard/", discard, name="discard_import"),
    path("projects/<slug:slug>/imports/<int:pk>/undo/", undo, name="undo_import"),
]
