"""What is the same for everybody is rendered once a process and language, and sees nothing of anybody."""

from django.template import Context, Template
from django.utils.translation import override


def test_a_block_is_rendered_once_per_language():
    calls = []
    kept = "{% kept say %}{% translate 'January' %} {{ say }}{{ name }}{% endkept %}"
    template = Template("{% load kept %}" + kept + "{{ name }}")

    def say():
        calls.append(1)
        return "<b>"

    def shown(name):
        return template.render(Context({"say": say, "name": name}))

    assert shown("ada") == "January &lt;b&gt;ada"
    assert shown("ben") == "January &lt;b&gt;ben"
    assert len(calls) == 1
    with override("de"):
        assert shown("ada") == "Januar &lt;b&gt;ada"
    assert shown("ada") == "January &lt;b&gt;ada"
    assert len(calls) == 2
