"""Template filter for the names of methods."""

from django import template

from generation.method_names import method_label

register = template.Library()
register.filter(method_label)
