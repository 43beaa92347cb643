"""Sets Django up when it is imported: for the processes of a test that are neither pytest's nor `manage.py`'s."""

import django
from django.apps import apps

if not apps.ready:
    django.setup()
