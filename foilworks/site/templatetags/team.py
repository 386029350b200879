"""Template tag for the page of invitations, which cannot import the project's count."""

from django import template

from foilworks.core.projects.forms.accounts import TeamForm
from foilworks.core.projects.models import Project
from foilworks.site.dashboard.stored_count import counted

register = template.Library()


@register.simple_tag
def proposed_team(project: Project, form: TeamForm) -> TeamForm:
    """Return the form with the people that the overview names as missing, unless it already says how many."""
    if form.is_bound or form.initial:
        return form
    missing = (counted(project).data or {}).get("missing", {})
    return TeamForm(initial=dict.fromkeys(form.fields, 0) | missing)
