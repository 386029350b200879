"""The API `/api/v1/`, described by its OpenAPI document and docs/reference/api.md.

One file per resource; its functions parse, call the same getters and actions as the pages, and render.
"""
