"""The shop's palette: a colour has one name, one code in the SKU and one value, whatever wears it."""

from dataclasses import replace

from demo.showroom.goods import Choice

BERRY = Choice("Berry", "BER", ("9c3f52",))
BLUSH = Choice("Blush", "BLU", ("dba59a",))
BUTTER = Choice("Butter", "BUT", ("ecd28a",))
CHALK = Choice("Chalk", "CHA", ("efeae0",))
CHARCOAL = Choice("Charcoal", "COA", ("43474c",))
CLAY = Choice("Clay", "CLA", ("bf7253",))
DENIM = Choice("Denim", "DEN", ("4d6888",))
FOREST = Choice("Forest", "FOR", ("3f6350",))
INK = Choice("Ink", "INK", ("2f4160",))
LILAC = Choice("Lilac", "LIL", ("b3a3cb",))
MOSS = Choice("Moss", "MOS", ("7d8752",))
MUSTARD = Choice("Mustard", "MUS", ("d6a03f",))
OAT = Choice("Oat", "OAT", ("dfcfb0",))
RUST = Choice("Rust", "RUS", ("b2572f",))
SAGE = Choice("Sage", "SAG", ("9aae8c",))
SKY = Choice("Sky", "SKY", ("97b8d1",))
SLATE = Choice("Slate", "SLA", ("62717f",))
STONE = Choice("Stone", "STO", ("b8b0a3",))
TEAL = Choice("Teal", "TEA", ("3e7f80",))
TERRACOTTA = Choice("Terracotta", "TER", ("c8724c",))

OAK = Choice("Oak", "OAK", ("c79a63",))
WALNUT = Choice("Walnut", "WAL", ("7a5338",))
BEECH = Choice("Beech", "BEE", ("dfb98a",))
BRASS = Choice("Brass", "BRA", ("c9a24e",))
STEEL = Choice("Steel", "STE", ("aab2b8",))
SEAGRASS = Choice("Seagrass", "SEA", ("c2a56b",))


def with_accent(colour: Choice, *hexes: str) -> Choice:
    """Return the colour with further values for the second and third part of a picture."""
    return replace(colour, hexes=(colour.hexes[0], *hexes))
