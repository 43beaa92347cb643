"""Home: cushions and blankets, towels and bath, lamps and candles, vases and plants."""

from demo.showroom.colours import (
    BEECH,
    BERRY,
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
    OAK,
    OAT,
    RUST,
    SAGE,
    SEAGRASS,
    SKY,
    SLATE,
    STONE,
    TEAL,
    TERRACOTTA,
    WALNUT,
    with_accent,
)
from demo.showroom.goods import Choice, Product, make

CUSHIONS_AND_BLANKETS = (
    Product(
        key="linen-cushion",
        name="Washed Linen Cushion",
        slug="washed-linen-cushion",
        brand="Lintvale",
        category="cushions-and-blankets",
        description=(
            "A cushion in heavy European linen, washed until it is soft and a little crumpled. "
            "The cover closes with a hidden zip along the bottom and comes with a feather inner, "
            "plump enough to lean on."
        ),
        details={
            "Material": "Cover 100% linen, 240 g/m²; inner duck feather in cotton",
            "Sizes": "Square 45 × 45 cm, long 60 × 40 cm",
            "Care": "Cover: machine wash at 40 °C, no ironing needed",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "CUS",
            shape="cushion",
            price="39.00",
            grams=720,
            options={
                "Colour": (SAGE, MUSTARD, RUST, CHALK, INK),
                "Size": (
                    Choice("45 × 45 cm", "45"),
                    Choice("60 × 40 cm", "60", price="44.00", grams=840, shape="long-cushion"),
                ),
            },
            stock={"CUS-RUS-60": (0, 4), "CUS-INK-45": (3, 0)},
        ),
        featured=True,
        created_days_ago=64,
        related=("wool-throw", "corduroy-cushion"),
    ),
    Product(
        key="corduroy-cushion",
        name="Wide-Wale Corduroy Cushion",
        slug="corduroy-cushion",
        brand="Lintvale",
        category="cushions-and-blankets",
        description=(
            "Broad cotton corduroy with a deep pile that changes with the light. "
            "It holds its shape well and suits a reading chair. Zip at the back, feather inner included."
        ),
        details={
            "Material": "Cover 100% cotton corduroy; inner duck feather in cotton",
            "Dimensions": "50 × 50 cm",
            "Care": "Cover: machine wash at 30 °C, inside out",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "CRD",
            shape="corduroy-cushion",
            price="34.00",
            was="42.00",
            grams=860,
            options={"Colour": (CLAY, MOSS, TEAL, LILAC)},
        ),
        deal=True,
        created_days_ago=188,
        related=("linen-cushion",),
    ),
    Product(
        key="wool-throw",
        name="Fringed Wool Throw",
        slug="fringed-wool-throw",
        brand="Fennmarch",
        category="cushions-and-blankets",
        description=(
            "Woven from pure lambswool in a small mill that has done little else for a century. "
            "Light enough for a summer evening, warm enough for a winter one, with a twisted fringe "
            "at both ends."
        ),
        details={
            "Material": "100% lambswool",
            "Dimensions": "130 × 180 cm with fringe",
            "Care": "Wool wash at 30 °C or air it on a damp day; dry flat",
            "Made in": "Ireland",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "THR",
            shape="blanket",
            price="98.00",
            grams=1050,
            options={
                "Colour": (
                    with_accent(OAT, "b8a27a"),
                    with_accent(FOREST, "dfcfb0"),
                    with_accent(BERRY, "dba59a"),
                    with_accent(SKY, "efeae0"),
                )
            },
            stock={"THR-BER": (2, 1)},
        ),
        featured=True,
        created_days_ago=24,
        related=("linen-cushion", "waffle-blanket"),
    ),
    Product(
        key="waffle-blanket",
        name="Cotton Waffle Blanket",
        slug="cotton-waffle-blanket",
        brand="Lintvale",
        category="cushions-and-blankets",
        description=(
            "A bed blanket in a large, airy waffle weave: cool when it is warm and warm when it is cool. "
            "It shrinks a little at the first wash and becomes softer with each one after that."
        ),
        details={
            "Material": "100% cotton, 320 g/m²",
            "Sizes": "Single 150 × 210 cm, double 230 × 210 cm",
            "Care": "Machine wash at 60 °C, tumble dry low",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "WAF",
            shape="folded-blanket",
            price="79.00",
            grams=1100,
            options={
                "Colour": (CHALK, SLATE, TERRACOTTA),
                "Size": (Choice("Single", "S"), Choice("Double", "D", price="109.00", grams=1650)),
            },
        ),
        created_days_ago=131,
    ),
)

TOWELS_AND_BATH = (
    Product(
        key="bath-towel",
        name="Heavy Cotton Towel",
        slug="heavy-cotton-towel",
        brand="Lintvale",
        category="towels-and-bath",
        description=(
            "A thick, thirsty towel in long-staple cotton with a plain woven border. "
            "Dense loops on both sides dry you quickly and keep their depth for years. Sold one by "
            "one, so you can mix colours."
        ),
        details={
            "Material": "100% long-staple cotton, 600 g/m²",
            "Sizes": "Hand 50 × 100 cm, bath 70 × 140 cm, sheet 100 × 160 cm",
            "Care": "Machine wash at 60 °C; leave out the fabric softener",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "TWL",
            shape="towel",
            price="16.00",
            grams=300,
            options={
                "Colour": (CHALK, SKY, SAGE, BUTTER, SLATE),
                "Size": (
                    Choice("Hand", "HAND"),
                    Choice("Bath", "BATH", price="29.00", grams=590),
                    Choice("Sheet", "SHEET", price="46.00", grams=960),
                ),
            },
            stock={"TWL-BUT-SHEET": (0, 0), "TWL-SKY-BATH": (0, 12)},
        ),
        created_days_ago=203,
        related=("bath-mat", "olive-soap"),
    ),
    Product(
        key="bath-mat",
        name="Waffle Bath Mat",
        slug="waffle-bath-mat",
        brand="Lintvale",
        category="towels-and-bath",
        description=(
            "A bath mat with enough weight to stay where you put it. "
            "The deep waffle takes up water at once and dries on the edge of the tub by the evening."
        ),
        details={
            "Material": "100% cotton, 900 g/m²",
            "Dimensions": "60 × 90 cm",
            "Care": "Machine wash at 60 °C",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "MAT",
            shape="rolled-mat",
            price="27.50",
            grams=540,
            options={"Colour": (STONE, SKY, TERRACOTTA)},
        ),
        created_days_ago=176,
        related=("bath-towel",),
    ),
    Product(
        key="olive-soap",
        name="Olive Oil Soap",
        slug="olive-oil-soap",
        brand="Tallowick",
        category="towels-and-bath",
        description=(
            "Soap made the slow way from olive and coconut oil, cut by hand and cured for six weeks. "
            "It lathers softly and does not dry out the skin. Wrapped in paper, nothing else."
        ),
        details={
            "Contents": "Saponified olive and coconut oil, essential oils, clay",
            "Net weight": "100 g",
            "Care": "Lasts longest on a dish that drains",
            "Made in": "France",
        },
        option_names=("Scent",),
        tax_class="standard",
        variants=make(
            "SOAP",
            shape="soap",
            price="6.50",
            grams=110,
            options={
                "Scent": (
                    Choice("Lavender", "LAVENDER", ("b3a3cb",)),
                    Choice("Lemon and thyme", "LEMON", ("e6cf7c",)),
                    Choice("Cedar", "CEDAR", ("b98a63",)),
                    Choice("Unscented", "PLAIN", ("e7dfc9",)),
                )
            },
        ),
        created_days_ago=97,
        related=("bath-towel",),
    ),
    Product(
        key="linen-hand-towel",
        name="Striped Linen Hand Towel",
        slug="striped-linen-hand-towel",
        brand="Lintvale",
        category="towels-and-bath",
        description=(
            "A flat-woven linen towel with a woven stripe and a loop to hang it by. "
            "It dries hands and glasses without leaving lint, and takes up hardly any room on the rail."
        ),
        details={
            "Material": "100% linen, 200 g/m²",
            "Dimensions": "45 × 70 cm",
            "Care": "Machine wash at 60 °C",
            "Made in": "Lithuania",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "LHT",
            shape="tea-towel",
            price="14.50",
            was="18.00",
            grams=80,
            options={
                "Colour": (
                    Choice("Chalk and ink", "INK", ("efeae0", "2f4160")),
                    Choice("Chalk and rust", "RUS", ("efeae0", "b2572f")),
                    Choice("Oat and moss", "MOS", ("dfcfb0", "6b7646")),
                )
            },
        ),
        deal=True,
        created_days_ago=220,
    ),
    Product(
        key="seagrass-basket",
        name="Seagrass Laundry Basket",
        slug="seagrass-laundry-basket",
        brand="Orlewood",
        category="towels-and-bath",
        description=(
            "Coiled by hand from dried seagrass, with two handles that are part of the weave. "
            "The small one holds towels or toys, the large one a week of washing."
        ),
        details={
            "Material": "Seagrass",
            "Sizes": "Small 30 × 28 cm, large 42 × 45 cm (diameter × height)",
            "Care": "Brush out dry; keep it off wet floors",
            "Made in": "Vietnam",
        },
        option_names=("Size",),
        tax_class="standard",
        variants=make(
            "BSK",
            shape="basket",
            price="32.00",
            grams=900,
            hexes=SEAGRASS.hexes,
            options={"Size": (Choice("Small", "S"), Choice("Large", "L", price="54.00", grams=1900))},
            stock={"BSK-L": (4, 0)},
        ),
        created_days_ago=58,
    ),
)

LAMPS_AND_CANDLES = (
    Product(
        key="table-lamp",
        name="Linen Shade Table Lamp",
        slug="linen-shade-table-lamp",
        brand="Orlewood",
        category="lamps-and-candles",
        description=(
            "A turned base, a linen shade and a warm pool of light. "
            "The switch sits on the cloth-covered cord where the hand finds it in the dark. Takes an "
            "E27 bulb of up to 40 watts, not included."
        ),
        details={
            "Material": "Stoneware base, linen shade, cotton-covered cord of 2 m",
            "Dimensions": "Height 46 cm, shade 30 cm across",
            "Care": "Dust the shade with a soft brush",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "LMP",
            shape="lamp",
            price="89.00",
            grams=2300,
            options={
                "Colour": (
                    with_accent(TERRACOTTA, "f0e4cb"),
                    with_accent(FOREST, "f0e4cb"),
                    with_accent(INK, "e9dcc3"),
                    with_accent(CHALK, "e8d3a8"),
                )
            },
            stock={"LMP-CHA": (2, 0)},
        ),
        featured=True,
        created_days_ago=11,
        related=("pendant-lamp",),
    ),
    Product(
        key="pendant-lamp",
        name="Enamel Pendant Lamp",
        slug="enamel-pendant-lamp",
        brand="Orlewood",
        category="lamps-and-candles",
        description=(
            "A workshop shade in enamelled steel, white inside so that the table gets all the light. "
            "Hangs from two metres of cloth-covered cord that you can shorten yourself. Have it "
            "wired by an electrician."
        ),
        details={
            "Material": "Enamelled steel, brass fittings, cotton-covered cord",
            "Dimensions": "Shade 32 cm across, 22 cm high; cord 2 m",
            "Care": "Wipe with a damp cloth",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "PND",
            shape="pendant",
            price="74.00",
            grams=1400,
            options={"Colour": (MUSTARD, SAGE, CHARCOAL, BERRY)},
        ),
        created_days_ago=146,
        related=("table-lamp", "desk-lamp"),
    ),
    Product(
        key="scented-candle",
        name="Scented Candle",
        slug="scented-candle",
        brand="Tallowick",
        category="lamps-and-candles",
        description=(
            "Rapeseed wax with a cotton wick in a heavy glass that makes a fine tumbler afterwards. "
            "The scents are mixed from essential oils and stay in the background. Burn it for two "
            "hours the first time, so that it melts evenly."
        ),
        details={
            "Contents": "Rapeseed wax, essential oils, cotton wick",
            "Sizes": "180 g burns for about 40 hours, 400 g for about 80 hours",
            "Care": "Trim the wick to 5 mm; never leave a burning candle alone",
            "Made in": "Ireland",
        },
        option_names=("Scent", "Size"),
        tax_class="standard",
        variants=make(
            "CND",
            shape="candle",
            price="24.00",
            grams=420,
            options={
                "Scent": (
                    Choice("Fig", "FIG", ("7a6a8a",)),
                    Choice("Cedar", "CED", ("a4744f",)),
                    Choice("Sea mist", "SEA", ("7fa6b3",)),
                    Choice("Orange blossom", "ORA", ("dd9a5b",)),
                ),
                "Size": (Choice("180 g", "180"), Choice("400 g", "400", price="39.00", grams=850)),
            },
            stock={"CND-FIG-400": (0, 3)},
        ),
        created_days_ago=38,
        related=("dinner-candles",),
    ),
    Product(
        key="dinner-candles",
        name="Dinner Candles, Set of Three",
        slug="dinner-candles",
        brand="Tallowick",
        category="lamps-and-candles",
        description=(
            "Hand-dipped candles, coloured all the way through, that burn slowly and do not drip in "
            "still air. "
            "Three to a set, tied with cotton tape."
        ),
        details={
            "Contents": "Stearin from plants, cotton wick",
            "Dimensions": "2.2 × 25 cm, burns for about 8 hours",
            "Care": "Keep out of draughts; never leave a burning candle alone",
            "Made in": "Denmark",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "DIN",
            shape="candles",
            price="12.50",
            grams=260,
            options={"Colour": (BERRY, BUTTER, FOREST, SKY, CHALK)},
        ),
        created_days_ago=82,
        related=("scented-candle",),
    ),
    Product(
        key="storm-lantern",
        name="Storm Lantern",
        slug="storm-lantern",
        brand="Wrenfold",
        category="lamps-and-candles",
        description=(
            "A lantern for the garden table or the camp site, with a real glass chimney and a tank "
            "for lamp oil. "
            "It burns for about fourteen hours on one filling and does not mind the wind."
        ),
        details={
            "Material": "Powder-coated steel, borosilicate glass",
            "Dimensions": "Height 26 cm without handle, 15 cm across",
            "Care": "Wash the glass by hand; outdoors only while it is lit",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "LAN",
            shape="lantern",
            price="46.00",
            was="58.00",
            grams=980,
            options={"Colour": (MOSS, RUST, CHARCOAL)},
        ),
        deal=True,
        created_days_ago=305,
    ),
)

VASES_AND_PLANTS = (
    Product(
        key="stoneware-vase",
        name="Shoulder Vase",
        slug="shoulder-vase",
        brand="Kilnbrook",
        category="vases-and-plants",
        description=(
            "A generous stoneware vase with a narrow neck that holds a bunch together on its own. "
            "Thrown in two parts and dipped by hand, so the line of the glaze differs from piece to "
            "piece. Watertight."
        ),
        details={
            "Material": "Glazed stoneware",
            "Sizes": "Small 18 cm, large 28 cm high",
            "Care": "Wash by hand with a bottle brush",
            "Made in": "Portugal",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "VAS",
            shape="vase",
            price="36.00",
            grams=900,
            options={
                "Colour": (TEAL, OAT, CLAY, CHARCOAL),
                "Size": (Choice("Small", "S"), Choice("Large", "L", price="62.00", grams=2100)),
            },
            stock={"VAS-CLA-L": (1, 2)},
        ),
        featured=True,
        created_days_ago=17,
        related=("bud-vase",),
    ),
    Product(
        key="bud-vase",
        name="Bud Vase",
        slug="bud-vase",
        brand="Kilnbrook",
        category="vases-and-plants",
        description=(
            "For the one stem that broke off, or the first snowdrop. "
            "A small bottle in matt glaze that looks good empty and better in a row of three. Sold "
            "without the stem."
        ),
        details={
            "Material": "Glazed stoneware",
            "Dimensions": "Height 12 cm, 7 cm across",
            "Care": "Dishwasher safe",
            "Made in": "Portugal",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "BUD",
            shape="bud-vase",
            price="16.50",
            grams=240,
            options={"Colour": (CHALK, SKY, MUSTARD, BERRY)},
        ),
        created_days_ago=17,
        related=("stoneware-vase",),
    ),
    Product(
        key="plant-pot",
        name="Plant Pot with Saucer",
        slug="plant-pot-with-saucer",
        brand="Kilnbrook",
        category="vases-and-plants",
        description=(
            "A pot that lets roots breathe, glazed outside and raw inside, with a hole and a saucer "
            "that fits. "
            "Comes without the plant, but ready for it."
        ),
        details={
            "Material": "Earthenware, glazed outside",
            "Sizes": "12, 16 and 21 cm across",
            "Care": "Protect from frost",
            "Made in": "Spain",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "POT",
            shape="plant-pot",
            price="14.00",
            grams=700,
            options={
                "Colour": (
                    with_accent(TERRACOTTA, "5f8a5a"),
                    with_accent(CHALK, "6b9163"),
                    with_accent(DENIM, "7fa06a"),
                    with_accent(CHARCOAL, "6f9a72"),
                ),
                "Size": (
                    Choice("12 cm", "12"),
                    Choice("16 cm", "16", price="21.00", grams=1300),
                    Choice("21 cm", "21", price="33.00", grams=2600),
                ),
            },
            stock={"POT-DEN-21": (0, 0), "POT-CHA-16": (2, 6)},
        ),
        created_days_ago=120,
        related=("watering-can", "wildflower-seeds"),
    ),
    Product(
        key="watering-can",
        name="Long-Spout Watering Can",
        slug="long-spout-watering-can",
        brand="Orlewood",
        category="vases-and-plants",
        description=(
            "A slender spout that reaches the pot at the back without wetting the sill. "
            "Well balanced when full, and good-looking enough to leave out."
        ),
        details={
            "Material": "Powder-coated steel",
            "Capacity": "1.2 litres",
            "Care": "Empty it after use",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "CAN",
            shape="watering-can",
            price="28.00",
            grams=620,
            options={"Colour": (SAGE, MUSTARD, INK)},
        ),
        created_days_ago=44,
        related=("plant-pot",),
    ),
    Product(
        key="wildflower-seeds",
        name="Wildflower Seeds",
        slug="wildflower-seeds",
        brand="Orlewood",
        category="vases-and-plants",
        description=(
            "Seeds of native flowers for a bed, a verge or a large pot. "
            "Sow from March to May, rake in lightly and keep moist for three weeks; one packet is "
            "enough for four square metres."
        ),
        details={
            "Contents": "Seeds of 18 native species, open-pollinated",
            "Net weight": "12 g for 4 m²",
            "Care": "Keep dry and cool; sow within two years",
            "Made in": "Germany",
        },
        option_names=("Mix",),
        tax_class="reduced",
        variants=make(
            "SEED",
            shape="seed-packet",
            price="4.50",
            grams=20,
            options={
                "Mix": (
                    Choice("Meadow", "MEADOW", ("dfcfb0", "c8563f")),
                    Choice("Bees and butterflies", "BEES", ("d9dcc0", "7a6fb0")),
                    Choice("Dry and sunny", "SUN", ("ecd9a8", "dd8a3a")),
                )
            },
        ),
        created_days_ago=29,
        related=("plant-pot",),
    ),
    Product(
        key="plant-stool",
        name="Three-Legged Stool",
        slug="three-legged-stool",
        brand="Orlewood",
        category="vases-and-plants",
        description=(
            "A low stool in solid wood that carries a plant, a pile of books or a person of up to 120 kg. "
            "Three legs do not wobble, whatever the floor. Oiled, not lacquered, so scratches can be "
            "sanded out."
        ),
        details={
            "Material": "Solid wood, oiled",
            "Dimensions": "Height 44 cm, seat 32 cm across",
            "Care": "Wipe dry; oil once a year",
            "Made in": "Germany",
        },
        option_names=("Wood",),
        tax_class="standard",
        variants=make(
            "STL",
            shape="stool",
            price="94.00",
            grams=3200,
            options={"Wood": (OAK, WALNUT, BEECH)},
            stock={"STL-WAL": (0, 2)},
        ),
        created_days_ago=160,
    ),
)

HOME: tuple[Product, ...] = (
    *CUSHIONS_AND_BLANKETS,
    *TOWELS_AND_BATH,
    *LAMPS_AND_CANDLES,
    *VASES_AND_PLANTS,
)
