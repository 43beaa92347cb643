"""Clothing: T-shirts and shirts, jumpers and cardigans, bags, hats and socks."""

from demo.showroom.colours import (
    BERRY,
    BLUSH,
    BUTTER,
    CHALK,
    CHARCOAL,
    CLAY,
    DENIM,
    FOREST,
    INK,
    LILAC,
    MOSS,
    MUSTARD,
    OAT,
    RUST,
    SAGE,
    SKY,
    SLATE,
    STONE,
    TEAL,
    TERRACOTTA,
    with_accent,
)
from demo.showroom.goods import Choice, Product, make

XS = Choice("XS", "XS")
S = Choice("S", "S")
M = Choice("M", "M")
L = Choice("L", "L")
XL = Choice("XL", "XL")

T_SHIRTS_AND_SHIRTS = (
    Product(
        key="cotton-tee",
        name="Heavy Cotton T-Shirt",
        slug="heavy-cotton-t-shirt",
        brand="Pellorn",
        category="t-shirts-and-shirts",
        description=(
            "A tee with weight: dense organic cotton that keeps its shape and is never see-through. "
            "Straight cut, a neck that does not stretch, seams that do not twist. It fits true to size."
        ),
        details={
            "Material": "100% organic cotton, 220 g/m²",
            "Fit": "Straight; M measures 53 cm across the chest and 71 cm in length",
            "Care": "Machine wash at 40 °C",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "TEE",
            shape="t-shirt",
            price="29.00",
            grams=240,
            options={"Colour": (CHALK, SLATE, SAGE, RUST), "Size": (XS, S, M, L, XL)},
            stock={"TEE-RUS-XS": (0, 0), "TEE-CHA-M": (2, 3), "TEE-SLA-XL": (0, 6)},
        ),
        featured=True,
        created_days_ago=19,
        related=("striped-tee", "oxford-shirt"),
    ),
    Product(
        key="striped-tee",
        name="Striped Long-Sleeve Tee",
        slug="striped-long-sleeve-tee",
        brand="Pellorn",
        category="t-shirts-and-shirts",
        description=(
            "The sailor’s T-shirt: a boat neck, long sleeves and stripes knitted in, not printed. "
            "Firm cotton that is worn next to the skin in summer and under a jumper in winter."
        ),
        details={
            "Material": "100% cotton, 210 g/m²",
            "Fit": "Regular; M measures 52 cm across the chest and 68 cm in length",
            "Care": "Machine wash at 30 °C",
            "Made in": "France",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "STR",
            shape="striped-tee",
            price="45.00",
            grams=260,
            options={
                "Colour": (
                    Choice("Chalk and ink", "INK", ("efeae0", "2f4160")),
                    Choice("Chalk and berry", "BER", ("efeae0", "9c3f52")),
                    Choice("Denim and chalk", "DEN", ("4d6888", "efeae0")),
                ),
                "Size": (S, M, L, XL),
            },
        ),
        created_days_ago=87,
        related=("cotton-tee",),
    ),
    Product(
        key="pocket-tee",
        name="Pocket T-Shirt",
        slug="pocket-t-shirt",
        brand="Pellorn",
        category="t-shirts-and-shirts",
        description=(
            "A softer, lighter tee with a pocket on the chest, garment-dyed so that the seams come "
            "out a shade darker. "
            "Cut a little wider than our heavy one."
        ),
        details={
            "Material": "100% organic cotton, 170 g/m²",
            "Fit": "Relaxed; M measures 56 cm across the chest and 70 cm in length",
            "Care": "Machine wash at 30 °C with like colours",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "PKT",
            shape="pocket-tee",
            price="24.00",
            was="32.00",
            grams=190,
            options={"Colour": (BUTTER, LILAC, TEAL), "Size": (S, M, L)},
        ),
        deal=True,
        created_days_ago=198,
        related=("cotton-tee",),
    ),
    Product(
        key="linen-shirt",
        name="Linen Shirt",
        slug="linen-shirt",
        brand="Pellorn",
        category="t-shirts-and-shirts",
        description=(
            "A shirt for warm days, in linen that was washed before it was sewn and so will not shrink. "
            "Soft collar, shell buttons, a pocket, and a hem that may hang out."
        ),
        details={
            "Material": "100% linen, 165 g/m²; shell buttons",
            "Fit": "Relaxed; M measures 57 cm across the chest and 76 cm in length",
            "Care": "Machine wash at 40 °C, iron damp or not at all",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "LIN",
            shape="shirt",
            price="79.00",
            grams=260,
            options={"Colour": (SKY, CHALK, MOSS), "Size": (S, M, L, XL)},
            stock={"LIN-MOS-S": (0, 2), "LIN-SKY-L": (3, 0)},
        ),
        created_days_ago=41,
        related=("oxford-shirt",),
    ),
    Product(
        key="oxford-shirt",
        name="Oxford Shirt",
        slug="oxford-shirt",
        brand="Pellorn",
        category="t-shirts-and-shirts",
        description=(
            "A button-down shirt in thick Oxford cloth that softens with every wash. "
            "Smart enough for the office and sturdy enough for the way there by bicycle."
        ),
        details={
            "Material": "100% cotton Oxford, 150 g/m²",
            "Fit": "Regular; M measures 55 cm across the chest and 77 cm in length",
            "Care": "Machine wash at 40 °C, iron warm",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "OXF",
            shape="shirt",
            price="69.00",
            grams=280,
            options={"Colour": (BLUSH, DENIM), "Size": (S, M, L, XL)},
        ),
        created_days_ago=134,
        related=("linen-shirt",),
    ),
)

JUMPERS_AND_CARDIGANS = (
    Product(
        key="merino-jumper",
        name="Merino Jumper",
        slug="merino-jumper",
        brand="Fennmarch",
        category="jumpers-and-cardigans",
        description=(
            "A fine, plain jumper in extra-soft merino that does not itch and hardly needs washing. "
            "Fully fashioned, with ribbed cuffs that stay tight. It goes over a tee and under a coat."
        ),
        details={
            "Material": "100% merino wool, 19.5 micron",
            "Fit": "Regular; M measures 53 cm across the chest and 67 cm in length",
            "Care": "Wool wash at 30 °C, dry flat; or just air it",
            "Made in": "Italy",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "MER",
            shape="jumper",
            price="95.00",
            grams=310,
            options={"Colour": (MUSTARD, INK, BERRY, STONE), "Size": (S, M, L, XL)},
            stock={"MER-MUS-M": (1, 0), "MER-BER-S": (0, 3), "MER-STO-XL": (0, 0)},
        ),
        featured=True,
        created_days_ago=14,
        related=("cable-jumper", "wool-scarf"),
    ),
    Product(
        key="cable-jumper",
        name="Cable-Knit Jumper",
        slug="cable-knit-jumper",
        brand="Fennmarch",
        category="jumpers-and-cardigans",
        description=(
            "A fisherman’s jumper in undyed and dyed lambswool, with cables that are warm and not "
            "just for show. "
            "Heavy enough to replace a jacket on a dry day."
        ),
        details={
            "Material": "100% lambswool",
            "Fit": "Roomy; M measures 58 cm across the chest and 68 cm in length",
            "Care": "Wool wash at 30 °C, dry flat",
            "Made in": "Ireland",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "CBL",
            shape="cable-jumper",
            price="139.00",
            grams=780,
            options={"Colour": (OAT, FOREST), "Size": (S, M, L, XL)},
            stock={"CBL-OAT-L": (2, 2)},
        ),
        created_days_ago=27,
        related=("merino-jumper", "ribbed-beanie"),
    ),
    Product(
        key="lambswool-cardigan",
        name="Lambswool Cardigan",
        slug="lambswool-cardigan",
        brand="Fennmarch",
        category="jumpers-and-cardigans",
        description=(
            "A cardigan with a deep V-neck, five horn buttons and two pockets that hold more than a tissue. "
            "Brushed once, so it is soft from the first day."
        ),
        details={
            "Material": "100% lambswool; horn buttons",
            "Fit": "Regular; M measures 55 cm across the chest and 66 cm in length",
            "Care": "Wool wash at 30 °C, dry flat",
            "Made in": "Scotland",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "CRG",
            shape="cardigan",
            price="89.00",
            was="119.00",
            grams=520,
            options={
                "Colour": (with_accent(CLAY, "5a3a28"), with_accent(CHARCOAL, "b8a27a")),
                "Size": (S, M, L),
            },
        ),
        deal=True,
        created_days_ago=251,
        related=("merino-jumper",),
    ),
    Product(
        key="loopback-hoodie",
        name="Loopback Hoodie",
        slug="loopback-hoodie",
        brand="Pellorn",
        category="jumpers-and-cardigans",
        description=(
            "A hooded sweatshirt in heavy loopback cotton, knitted slowly so that it does not pill. "
            "A hood that stands up by itself, a pocket for both hands and ribbed sides to move in."
        ),
        details={
            "Material": "100% organic cotton, 420 g/m²",
            "Fit": "Regular; M measures 57 cm across the chest and 69 cm in length",
            "Care": "Machine wash at 30 °C, inside out",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "HOD",
            shape="hoodie",
            price="84.00",
            grams=720,
            options={"Colour": (SAGE, SLATE, TERRACOTTA), "Size": (S, M, L)},
        ),
        created_days_ago=102,
        related=("cotton-tee",),
    ),
)

BAGS_HATS_AND_SOCKS = (
    Product(
        key="canvas-tote",
        name="Canvas Tote",
        slug="canvas-tote",
        brand="Wrenfold",
        category="bags-hats-and-socks",
        description=(
            "A tote in proper canvas with handles long enough for the shoulder and stitched right "
            "down to the base. "
            "It carries a laptop, a melon or both. One pocket inside."
        ),
        details={
            "Material": "100% cotton canvas, 450 g/m²",
            "Dimensions": "40 × 38 × 12 cm, 18 litres",
            "Care": "Sponge clean",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "TOT",
            shape="tote",
            price="32.00",
            grams=380,
            options={
                "Colour": (
                    with_accent(OAT, "8a5a38"),
                    with_accent(INK, "8a5a38"),
                    with_accent(MUSTARD, "7a5338"),
                    with_accent(SAGE, "8a5a38"),
                )
            },
        ),
        created_days_ago=66,
        related=("canvas-backpack", "zip-pouch"),
    ),
    Product(
        key="canvas-backpack",
        name="Roll-Top Backpack",
        slug="roll-top-backpack",
        brand="Wrenfold",
        category="bags-hats-and-socks",
        description=(
            "A backpack in waxed canvas that rolls up small and opens wide. "
            "Padded sleeve for a 15-inch laptop, a front pocket for keys, leather where it wears. "
            "Keeps out an ordinary shower."
        ),
        details={
            "Material": "Waxed cotton canvas, vegetable-tanned leather, brass",
            "Dimensions": "44 × 29 × 14 cm, 20 litres",
            "Care": "Brush off; re-wax once a year",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "BPK",
            shape="backpack",
            price="118.00",
            grams=1150,
            options={
                "Colour": (
                    with_accent(FOREST, "b07a48"),
                    with_accent(MUSTARD, "7a5338"),
                    with_accent(CHARCOAL, "b07a48"),
                )
            },
            stock={"BPK-MUS": (2, 0)},
        ),
        featured=True,
        created_days_ago=8,
        related=("canvas-tote", "insulated-bottle"),
    ),
    Product(
        key="wool-scarf",
        name="Brushed Wool Scarf",
        slug="brushed-wool-scarf",
        brand="Fennmarch",
        category="bags-hats-and-socks",
        description=(
            "A wide, soft scarf in brushed lambswool, long enough to go round twice. The fringe is knotted by hand."
        ),
        details={
            "Material": "100% lambswool",
            "Dimensions": "35 × 190 cm with fringe",
            "Care": "Wool wash at 30 °C, dry flat",
            "Made in": "Ireland",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "SCF",
            shape="scarf",
            price="54.00",
            grams=210,
            options={
                "Colour": (
                    with_accent(RUST, "8f4022"),
                    with_accent(SKY, "6f95b3"),
                    with_accent(CHARCOAL, "62676d"),
                    with_accent(BLUSH, "b87a70"),
                )
            },
        ),
        created_days_ago=36,
        related=("ribbed-beanie", "merino-jumper"),
    ),
    Product(
        key="ribbed-beanie",
        name="Ribbed Beanie",
        slug="ribbed-beanie",
        brand="Fennmarch",
        category="bags-hats-and-socks",
        description=(
            "A close-fitting hat in a deep rib with a cuff that can be turned once or twice. "
            "One size that fits nearly everyone, and does not itch."
        ),
        details={
            "Material": "100% merino wool",
            "Dimensions": "One size, 54–62 cm",
            "Care": "Wool wash at 30 °C, dry flat",
            "Made in": "Ireland",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "BNE",
            shape="beanie",
            price="28.00",
            grams=90,
            options={"Colour": (MUSTARD, TEAL, BERRY, STONE, INK)},
            stock={"BNE-MUS": (0, 9)},
        ),
        created_days_ago=22,
        related=("wool-scarf",),
    ),
    Product(
        key="wool-socks",
        name="Walking Socks",
        slug="walking-socks",
        brand="Fennmarch",
        category="bags-hats-and-socks",
        description=(
            "Socks with a cushioned foot and a rib that stays up without pinching. "
            "Mostly wool, with some polyamide at the heel and the toe, where socks give up first. One pair."
        ),
        details={
            "Material": "75% wool, 25% polyamide",
            "Sizes": "36–40 and 41–46",
            "Care": "Machine wash at 40 °C, wool programme",
            "Made in": "Germany",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "SOX",
            shape="socks",
            price="18.00",
            grams=100,
            options={
                "Colour": (
                    with_accent(OAT, "b2572f"),
                    with_accent(FOREST, "d6a03f"),
                    with_accent(DENIM, "efeae0"),
                ),
                "Size": (Choice("36–40", "36"), Choice("41–46", "41")),
            },
        ),
        created_days_ago=110,
        related=("ribbed-beanie",),
    ),
    Product(
        key="zip-pouch",
        name="Zip Pouch",
        slug="zip-pouch",
        brand="Wrenfold",
        category="bags-hats-and-socks",
        description=(
            "A flat pouch in waxed canvas for pens, cables or whatever gets lost at the bottom of a bag. "
            "Brass zip, leather pull, cotton lining."
        ),
        details={
            "Material": "Waxed cotton canvas, brass zip",
            "Dimensions": "22 × 14 cm",
            "Care": "Sponge clean",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "PCH",
            shape="pouch",
            price="22.50",
            grams=90,
            options={"Colour": (CLAY, SLATE, MOSS)},
        ),
        created_days_ago=154,
        related=("canvas-tote",),
    ),
)

CLOTHING: tuple[Product, ...] = (*T_SHIRTS_AND_SHIRTS, *JUMPERS_AND_CARDIGANS, *BAGS_HATS_AND_SOCKS)
