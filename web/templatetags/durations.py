"""Filters that write durations and deadlines in words."""

from django import template

from web.durations import format_deadline, format_duration

register = template.Library()
register.filter("duration", format_duration)
register.filter("deadline", format_deadline)
