"""Import and export files. The worker does the work in parts, which may be interrupted and repeated (decision 042)."""

from spreadsheets.operations.conversions import answer_question
from spreadsheets.operations.exports import (
    EXPORT_SECONDS,
    delete_export,
    expire_export,
    iterate_export,
    start_export,
    start_order_file,
)
from spreadsheets.operations.faulty_rows import iterate_faulty_rows
from spreadsheets.operations.imports import CHUNK, is_applied, mark_of, start_applying, start_import
from spreadsheets.operations.links import follow_links
from spreadsheets.operations.runs import run_task
from spreadsheets.operations.tasks import end_question, note_failure
