"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

UPLOAD_PAGES = {
    "api:create_import": "records and their videos",
    "api:list_imports": "records and their videos",
    "api:bring_scores": "scores of a release",
}
