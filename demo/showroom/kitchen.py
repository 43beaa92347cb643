"""Kitchen: mugs, tea and coffee, plates and bowls, cookware and knives."""

from demo.showroom.colours import (
    BEECH,
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
    MUSTARD,
    OAK,
    OAT,
    RUST,
    SAGE,
    SKY,
    SLATE,
    TEAL,
    TERRACOTTA,
    WALNUT,
    with_accent,
)
from demo.showroom.goods import Choice, Product, make

MUGS_TEA_AND_COFFEE = (
    Product(
        key="everyday-mug",
        name="Everyday Mug",
        slug="everyday-mug",
        brand="Kilnbrook",
        category="mugs-tea-and-coffee",
        description=(
            "The mug that is always in the dishwasher because it is always the one you take. "
            "Stoneware with a light glaze inside, a handle for three fingers and a foot that does "
            "not scratch the table."
        ),
        details={
            "Material": "Glazed stoneware",
            "Sizes": "350 ml is 9 cm high, 450 ml is 10.5 cm high",
            "Care": "Dishwasher and microwave safe",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "MUG",
            shape="mug",
            price="14.00",
            grams=340,
            options={
                "Colour": (
                    with_accent(OAT, "f4eee1"),
                    with_accent(CLAY, "f0e6d6"),
                    with_accent(SAGE, "f1ede0"),
                    with_accent(INK, "e9e4d8"),
                    with_accent(BUTTER, "f6f0e2"),
                    with_accent(BERRY, "f0e2dc"),
                ),
                "Size": (Choice("350 ml", "350"), Choice("450 ml", "450", price="16.50", grams=420)),
            },
            stock={"MUG-BER-450": (0, 0), "MUG-INK-350": (4, 2)},
        ),
        featured=True,
        created_days_ago=52,
        related=("teapot", "loose-leaf-tea", "breakfast-bowl"),
    ),
    Product(
        key="espresso-cups",
        name="Espresso Cups, Set of Two",
        slug="espresso-cups",
        brand="Kilnbrook",
        category="mugs-tea-and-coffee",
        description=(
            "Two small, thick-walled cups with saucers that keep a short coffee hot to the last sip. "
            "The rim is thin, the foot is raw, and both stack."
        ),
        details={
            "Material": "Glazed stoneware",
            "Capacity": "80 ml each",
            "Care": "Dishwasher safe",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "ESP",
            shape="cup",
            price="26.00",
            grams=520,
            options={
                "Colour": (
                    with_accent(CHALK, "6f4a34"),
                    with_accent(TEAL, "6f4a34"),
                    with_accent(TERRACOTTA, "6f4a34"),
                )
            },
        ),
        created_days_ago=73,
        related=("everyday-mug",),
    ),
    Product(
        key="enamel-mug",
        name="Enamel Camp Mug",
        slug="enamel-camp-mug",
        brand="Wrenfold",
        category="mugs-tea-and-coffee",
        description=(
            "Two coats of enamel on steel, with a rolled rim in a contrasting colour. "
            "It weighs little, survives a fall from the picnic table and can stand on the stove."
        ),
        details={
            "Material": "Enamelled steel, stainless rim",
            "Capacity": "330 ml",
            "Care": "Dishwasher safe; not for the microwave",
            "Made in": "Poland",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "ENM",
            shape="enamel-mug",
            price="11.50",
            was="14.00",
            grams=150,
            options={
                "Colour": (
                    with_accent(CHALK, "2f4160"),
                    with_accent(FOREST, "efeae0"),
                    with_accent(DENIM, "efeae0"),
                    with_accent(MUSTARD, "43474c"),
                )
            },
        ),
        deal=True,
        created_days_ago=260,
        related=("insulated-bottle", "storm-lantern"),
    ),
    Product(
        key="teapot",
        name="Round Teapot",
        slug="round-teapot",
        brand="Kilnbrook",
        category="mugs-tea-and-coffee",
        description=(
            "A full-bellied teapot with a spout that pours without a drip and a lid that stays on. "
            "The steel strainer inside lifts out when the tea is ready."
        ),
        details={
            "Material": "Glazed stoneware, stainless steel strainer",
            "Capacity": "1 litre, four cups",
            "Care": "Rinse by hand; the strainer is dishwasher safe",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "TPT",
            shape="teapot",
            price="48.00",
            grams=1100,
            options={"Colour": (TEAL, OAT, RUST)},
            stock={"TPT-RUS": (2, 0)},
        ),
        created_days_ago=9,
        related=("everyday-mug", "loose-leaf-tea"),
    ),
    Product(
        key="loose-leaf-tea",
        name="Loose Leaf Tea",
        slug="loose-leaf-tea",
        brand="Marrowby",
        category="mugs-tea-and-coffee",
        description=(
            "Whole leaves, packed in the season they were picked and sold in a tin that closes tightly. "
            "One tin makes about forty cups. The time and the temperature are printed on the lid."
        ),
        details={
            "Contents": "Tea; the mint and the rooibos hold no caffeine",
            "Net weight": "100 g",
            "Care": "Keep dry, dark and well closed",
            "Packed in": "Germany",
        },
        option_names=("Tea",),
        tax_class="reduced",
        variants=make(
            "TEA",
            shape="tin",
            price="9.80",
            grams=180,
            options={
                "Tea": (
                    Choice("Breakfast black", "BLACK", ("9c3f2f", "f0e4cb")),
                    Choice("Green sencha", "GREEN", ("5f8260", "f0ecd2")),
                    Choice("Garden mint", "MINT", ("8fbfae", "f4f1e4")),
                    Choice("Rooibos and orange", "ROOIBOS", ("d08142", "f6ead2")),
                )
            },
        ),
        created_days_ago=33,
        related=("teapot",),
    ),
    Product(
        key="insulated-bottle",
        name="Insulated Bottle",
        slug="insulated-bottle",
        brand="Wrenfold",
        category="mugs-tea-and-coffee",
        description=(
            "Double-walled steel keeps tea hot for twelve hours and water cold for twenty-four. "
            "The lid unscrews in one turn and every part of it can be taken off and washed."
        ),
        details={
            "Material": "Stainless steel, powder-coated; seal of silicone",
            "Sizes": "500 ml is 22 cm high, 750 ml is 27 cm high",
            "Care": "Bottle by hand, lid in the dishwasher",
            "Made in": "Germany",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "BTL",
            shape="bottle",
            price="29.00",
            grams=340,
            options={
                "Colour": (
                    with_accent(FOREST, "c79a63"),
                    with_accent(SKY, "c79a63"),
                    with_accent(BLUSH, "c79a63"),
                    with_accent(CHARCOAL, "c79a63"),
                ),
                "Size": (Choice("500 ml", "500"), Choice("750 ml", "750", price="34.00", grams=430)),
            },
            stock={"BTL-BLU-500": (0, 7)},
        ),
        created_days_ago=105,
        related=("enamel-mug", "canvas-backpack"),
    ),
    Product(
        key="stove-kettle",
        name="Whistling Kettle",
        slug="whistling-kettle",
        brand="Brindlecote",
        category="mugs-tea-and-coffee",
        description=(
            "An enamelled kettle that tells you when it boils, and stops when you lift the spout's cap. "
            "Works on gas, ceramic and induction. The beech handle stays cool."
        ),
        details={
            "Material": "Enamelled steel, beech handle",
            "Capacity": "1.8 litres",
            "Care": "Descale with vinegar; wipe the outside",
            "Made in": "Poland",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "KET",
            shape="kettle",
            price="59.00",
            grams=1250,
            options={
                "Colour": (
                    with_accent(BUTTER, "b9854f"),
                    with_accent(SLATE, "b9854f"),
                    with_accent(TERRACOTTA, "8a5a38"),
                )
            },
        ),
        created_days_ago=141,
        related=("teapot",),
    ),
)

PLATES_AND_BOWLS = (
    Product(
        key="dinner-plate",
        name="Coupe Plate",
        slug="coupe-plate",
        brand="Kilnbrook",
        category="plates-and-bowls",
        description=(
            "A plate without a rim, raised at the edge, so that sauce stays where it belongs. "
            "The glaze breaks to a darker line at the lip. Two sizes that stack in each other."
        ),
        details={
            "Material": "Glazed stoneware",
            "Sizes": "Side 21 cm, dinner 27 cm across",
            "Care": "Dishwasher, microwave and oven safe up to 200 °C",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "PLT",
            shape="plate",
            price="15.00",
            grams=480,
            options={
                "Colour": (SKY, CHALK, CLAY, SAGE),
                "Size": (Choice("Side", "21"), Choice("Dinner", "27", price="21.00", grams=820)),
            },
            stock={"PLT-SAG-27": (5, 0)},
        ),
        created_days_ago=52,
        related=("breakfast-bowl", "serving-bowl"),
    ),
    Product(
        key="breakfast-bowl",
        name="Breakfast Bowl",
        slug="breakfast-bowl",
        brand="Kilnbrook",
        category="plates-and-bowls",
        description=(
            "Deep enough for porridge with fruit, wide enough for a soup at night. "
            "Coloured outside, light inside, with a foot that lifts it off a hot table."
        ),
        details={
            "Material": "Glazed stoneware",
            "Dimensions": "14 cm across, 7 cm high; 600 ml",
            "Care": "Dishwasher and microwave safe",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "BWL",
            shape="bowl",
            price="17.00",
            grams=430,
            options={
                "Colour": (
                    with_accent(SLATE, "efeae0"),
                    with_accent(MUSTARD, "f4ecd8"),
                    with_accent(BLUSH, "f4ebe2"),
                    with_accent(FOREST, "ece8d8"),
                    with_accent(LILAC, "f1edf0"),
                )
            },
        ),
        created_days_ago=52,
        related=("dinner-plate", "everyday-mug"),
    ),
    Product(
        key="serving-bowl",
        name="Wide Serving Bowl",
        slug="wide-serving-bowl",
        brand="Kilnbrook",
        category="plates-and-bowls",
        description=(
            "For a salad for six, or all the pasta. "
            "A low, wide bowl with a thick lip that is easy to carry to the table with both hands."
        ),
        details={
            "Material": "Glazed stoneware",
            "Dimensions": "31 cm across, 9 cm high; 2.8 litres",
            "Care": "Dishwasher safe",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "SRV",
            shape="serving-bowl",
            price="52.00",
            was="65.00",
            grams=1650,
            options={
                "Colour": (
                    with_accent(CHALK, "f7f3ea"),
                    with_accent(TEAL, "dfe6df"),
                    with_accent(TERRACOTTA, "f0e2d2"),
                )
            },
        ),
        deal=True,
        created_days_ago=240,
        related=("dinner-plate",),
    ),
    Product(
        key="stoneware-jug",
        name="Stoneware Jug",
        slug="stoneware-jug",
        brand="Kilnbrook",
        category="plates-and-bowls",
        description=(
            "A straight, sturdy jug for water, milk or a handful of tulips. "
            "The lip is cut sharply, so it pours in a clean line and stops when you do."
        ),
        details={
            "Material": "Glazed stoneware",
            "Capacity": "1.1 litres",
            "Care": "Dishwasher safe",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "JUG",
            shape="jug",
            price="38.00",
            grams=880,
            options={"Colour": (OAT, SKY, BERRY, CHARCOAL)},
        ),
        created_days_ago=116,
        related=("glass-tumblers",),
    ),
    Product(
        key="glass-tumblers",
        name="Ribbed Tumblers, Set of Four",
        slug="ribbed-tumblers",
        brand="Brindlecote",
        category="plates-and-bowls",
        description=(
            "Tumblers in thick ribbed glass that are good to hold and hard to tip over. "
            "Coloured in the melt, not painted, so the colour stays. Four to a box."
        ),
        details={
            "Material": "Soda-lime glass",
            "Capacity": "280 ml each, 9 cm high",
            "Care": "Dishwasher safe; not for boiling water",
            "Made in": "France",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "TUM",
            shape="tumbler",
            price="28.00",
            grams=1200,
            options={
                "Colour": (
                    Choice("Clear", "CLE", ("b9cdd2",)),
                    Choice("Amber", "AMB", ("cf9446",)),
                    Choice("Sea green", "SEA", ("6fa598",)),
                )
            },
        ),
        created_days_ago=90,
        related=("stoneware-jug",),
    ),
)

COOKWARE_AND_KNIVES = (
    Product(
        key="iron-pan",
        name="Cast-Iron Frying Pan",
        slug="cast-iron-frying-pan",
        brand="Brindlecote",
        category="cookware-and-knives",
        description=(
            "A pan for steaks, pancakes and the next sixty years. "
            "Seasoned with linseed oil and ready to use; it becomes more non-stick each time you "
            "cook. Works on every stove, in the oven and over a fire."
        ),
        details={
            "Material": "Cast iron, oak grip",
            "Sizes": "24 cm and 28 cm across",
            "Care": "Rinse hot, dry at once, oil now and then; no dishwasher",
            "Made in": "France",
        },
        option_names=("Size",),
        tax_class="standard",
        variants=make(
            "PAN",
            shape="pan",
            price="68.00",
            grams=2100,
            hexes=("43474c", "b98a58"),
            options={"Size": (Choice("24 cm", "24"), Choice("28 cm", "28", price="84.00", grams=2800))},
        ),
        featured=True,
        created_days_ago=150,
        related=("chefs-knife", "cutting-board"),
    ),
    Product(
        key="casserole",
        name="Enamelled Casserole",
        slug="enamelled-casserole",
        brand="Brindlecote",
        category="cookware-and-knives",
        description=(
            "A heavy pot that browns, braises and bakes bread, and goes straight to the table. "
            "The lid returns the steam to the food. Light enamel inside shows what is happening at "
            "the bottom."
        ),
        details={
            "Material": "Enamelled cast iron, brass knob",
            "Sizes": "3 litres for four, 5 litres for eight",
            "Care": "Wash by hand; let it cool before rinsing",
            "Made in": "France",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "CAS",
            shape="casserole",
            price="129.00",
            grams=3900,
            options={
                "Colour": (RUST, SAGE, INK, BUTTER),
                "Size": (Choice("3 litres", "3L"), Choice("5 litres", "5L", price="169.00", grams=5600)),
            },
            stock={"CAS-BUT-5L": (1, 0), "CAS-INK-3L": (0, 5)},
        ),
        featured=True,
        created_days_ago=6,
        related=("iron-pan",),
    ),
    Product(
        key="chefs-knife",
        name="Chef’s Knife",
        slug="chefs-knife",
        brand="Brindlecote",
        category="cookware-and-knives",
        description=(
            "One good knife does most of the work. "
            "A 20 cm blade in carbon-rich steel, ground thin by hand, with a full tang and three rivets. "
            "It takes a very fine edge and wants to be wiped dry. We do not sell knives to people under 18."
        ),
        details={
            "Material": "High-carbon steel; handle of walnut or oak",
            "Dimensions": "Blade 20 cm, length 33 cm",
            "Care": "Wash by hand, dry at once, sharpen on a stone",
            "Made in": "Germany",
        },
        option_names=("Handle",),
        tax_class="standard",
        variants=make(
            "KNF",
            shape="knife",
            price="92.00",
            grams=210,
            options={"Handle": (WALNUT, OAK)},
        ),
        created_days_ago=77,
        related=("cutting-board",),
    ),
    Product(
        key="cutting-board",
        name="Chopping Board",
        slug="chopping-board",
        brand="Orlewood",
        category="cookware-and-knives",
        description=(
            "A solid board with a handle to carry it and a hole to hang it up. "
            "Kind to knives, and thick enough not to warp. Finished with linseed oil."
        ),
        details={
            "Material": "Solid wood, oiled",
            "Sizes": "Small 38 × 18 cm, large 50 × 26 cm",
            "Care": "Wipe with a damp cloth, dry upright, oil when it looks thirsty",
            "Made in": "Germany",
        },
        option_names=("Wood", "Size"),
        tax_class="standard",
        variants=make(
            "BRD",
            shape="board",
            price="34.00",
            grams=850,
            options={
                "Wood": (OAK, WALNUT),
                "Size": (Choice("Small", "S"), Choice("Large", "L", price="56.00", grams=1700)),
            },
        ),
        created_days_ago=128,
        related=("chefs-knife",),
    ),
    Product(
        key="linen-apron",
        name="Linen Apron",
        slug="linen-apron",
        brand="Lintvale",
        category="cookware-and-knives",
        description=(
            "An apron with a bib, long ties and one deep pocket across the front. "
            "Heavy washed linen lets splashes dry quickly and looks better for a few stains."
        ),
        details={
            "Material": "100% linen, 280 g/m²",
            "Dimensions": "70 × 88 cm, adjustable at the neck",
            "Care": "Machine wash at 60 °C",
            "Made in": "Lithuania",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "APR",
            shape="apron",
            price="42.00",
            grams=300,
            options={"Colour": (OAT, DENIM, RUST, CHARCOAL)},
            stock={"APR-DEN": (6, 1)},
        ),
        created_days_ago=48,
    ),
    Product(
        key="wooden-spoons",
        name="Wooden Spoons, Set of Three",
        slug="wooden-spoons",
        brand="Orlewood",
        category="cookware-and-knives",
        description=(
            "A spoon, a slotted spoon and a spatula, carved from one piece of wood each. "
            "Smooth in the hand, gentle to enamel, and each with a grain of its own."
        ),
        details={
            "Material": "Solid beech or oak, oiled",
            "Dimensions": "Length 30 cm",
            "Care": "Wash by hand, oil now and then",
            "Made in": "Germany",
        },
        option_names=("Wood",),
        tax_class="standard",
        variants=make(
            "SPN",
            shape="spoons",
            price="19.50",
            grams=180,
            options={"Wood": (BEECH, OAK)},
        ),
        created_days_ago=212,
        related=("casserole",),
    ),
)

KITCHEN: tuple[Product, ...] = (*MUGS_TEA_AND_COFFEE, *PLATES_AND_BOWLS, *COOKWARE_AND_KNIVES)
