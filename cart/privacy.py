"""Personal data in carts: the person's own carts, and the person's roles in other people's carts."""

from datetime import datetime
from typing import Any

from cart import people, queries
from cart.entities import Line
from cart.operations.erasure import erase_carts
from cart.operations.sharing import delete_invitations
from cassandra_db import Row
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's carts with their contents and people, the carts that others share with the person, and invitations."""
    listed = [row for row in queries.CARTS.all(owner_id=person.user_id) if row.cart_id is not None]
    return {
        "carts": [_export_cart(row) for row in listed if not row.role],
        "carts_of_others": [
            {
                "name": row.cart_name,
                "shared_by": row.shared_by,
                "role": row.role,
                "since": row.created_at,
            }
            for row in listed
            if row.role
        ],
        "invitations": [
            {
                "name": each.cart_name,
                "shared_by": each.owner_name,
                "role": each.role,
                "invited_at": each.invited_at,
            }
            for each in people.list_invitations(person.email)
        ],
    }


def _export_cart(row: Row) -> dict[str, Any]:
    lines, saved_lines = (
        queries.LINES.start(cart_id=row.cart_id),
        queries.SAVED_LINES.start(cart_id=row.cart_id),
    )
    others = people.get_people(row.cart_id)
    return {
        "name": row.cart_name,
        "active": row.cart_id == row.active_cart_id,
        "made_at": row.created_at,
        "lines": _export_lines(lines.rows()),
        "kept_for_later": _export_lines(saved_lines.rows()),
        "people": [
            {"name": each.name, "email": each.email, "role": each.role, "since": each.since}
            for each in others.people
        ],
        "invitations": [
            {"email": each.email, "role": each.role, "invited_at": each.invited_at}
            for each in others.invitations
        ],
        "links": [{"made_at": each.made_at} for each in others.links],
    }


def _export_lines(rows: list[Row]) -> list[dict[str, Any]]:
    return [_export_line(queries.line_from_row(row)) for row in rows if row.key is not None]


def _export_line(line: Line) -> dict[str, Any]:
    return {
        "sku": line.sku,
        "name": line.name,
        "options": line.options,
        "price": line.price,
        "quantity": line.quantity,
        "added_at": line.added_at,
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Leave other people's carts, decline invitations, and remove the person's own carts."""
    delete_invitations(person.email)
    erase_carts(person.user_id, now)
