"""Dates as languages write them: a package a language, whose `formats` Django asks first (FORMAT_MODULE_PATH).

Templates name dates in English order (`|date:"j M Y"`). What a language writes otherwise stands in its `DATES`, under
that very name; numbers are Django's own (evaluation.templatetags.numbers, `floatformat`).
"""
