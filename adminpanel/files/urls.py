"""Addresses of the staff's pages about imports and exports."""

from django.urls import path

from adminpanel.files import views

urlpatterns = [
    path("spreadsheets/", views.spreadsheet_list, name="spreadsheets"),
    path("spreadsheets/columns/", views.spreadsheet_help, name="spreadsheet_help"),
    path(
        "spreadsheets/columns/<slug:layout>.csv",
        views.spreadsheet_example,
        name="spreadsheet_example",
    ),
    path("spreadsheets/import/upload/", views.import_new, name="import_new"),
    path("spreadsheets/export/", views.export_new, name="export_new"),
    path("spreadsheets/<uuid:task_id>/", views.spreadsheet_detail, name="spreadsheet"),
    path("spreadsheets/<uuid:task_id>/columns/", views.import_columns, name="import_columns"),
    path("spreadsheets/<uuid:task_id>/errors.csv", views.faulty_rows, name="faulty_rows"),
    path("spreadsheets/<uuid:task_id>/apply/", views.import_apply, name="import_apply"),
    path("spreadsheets/<uuid:task_id>/file/", views.export_file, name="export_file"),
]
