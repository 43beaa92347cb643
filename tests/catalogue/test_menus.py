"""Which categories stand in the header's line, and which in its menu."""

from catalogue.entities import MenuEntry
from catalogue.menu_links import make_shown_menu
from catalogue.templatetags.menus import MenuLine, in_one_line
from shop_settings.menus import HEADER, MENUS


def line_of(*names: str) -> MenuLine:
    behind = make_shown_menu(MENUS.first_values()[HEADER]).groups()
    return in_one_line([MenuEntry(each, each.lower(), "", "", ()) for each in names], behind)


def test_x279_what_has_no_room_in_the_line_stands_in_the_menu_in_order() -> None:
    few = line_of("House", "Kitchen", "Clothing", "Desk")
    assert [each.place for each in few.places] == [""] * 4
    assert few.in_menu == []
    # A wide desk has room for more of them than a narrow one.
    some = line_of(*(f"Kitchen {number}" for number in range(6)))
    assert [each.place for each in some.places] == [""] * 3 + ["wide"] * 3
    assert not some.is_always_cut
    many = line_of(*(f"Handmade furniture and lamps {number}" for number in range(15)))
    assert [each.place for each in many.places] == ["", "wide", *["more"] * 13]
    assert many.is_always_cut
    assert [each.category.name for each in many.in_menu] == [
        f"Handmade furniture and lamps {number}" for number in range(1, 15)
    ]
    # Letters of some scripts are twice as wide; one name that is too wide for any line is in the menu alone.
    assert len(line_of(*["木製の家具"] * 9).in_line) < len(line_of(*["Chair"] * 9).in_line)
    assert line_of("W" * 100).in_line == []
    assert line_of().places == ()
