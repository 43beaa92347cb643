"""The shelves: four roots, three levels, twelve leaves."""

from demo.showroom.goods import Category

CATEGORIES: tuple[Category, ...] = (
    # House
    Category(
        "house",
        "House",
        None,
        "Soft things, warm light and something green for every room.",
        "home-scene/c8724c-9aae8c-3e7f80",
    ),
    Category(
        "textiles",
        "Textiles",
        "house",
        "Linen, wool and cotton for the sofa, the bed and the bath.",
        "cushion/9aae8c",
    ),
    Category(
        "cushions-and-blankets",
        "Cushions & blankets",
        "textiles",
        "Covers in washed linen and corduroy, and blankets that are the right weight for an evening.",
        "cushion/d6a03f",
    ),
    Category(
        "towels-and-bath",
        "Towels & bath",
        "textiles",
        "Thick cotton towels, a waffle mat and honest soap.",
        "towel/97b8d1",
    ),
    Category("living", "Living", "house", "Lamps, candles, vases and pots that make a room yours.", "vase/3e7f80"),
    Category(
        "lamps-and-candles",
        "Lamps & candles",
        "living",
        "Light to read by, light to eat by and light to carry into the garden.",
        "lamp/3f6350-f0e4cb",
    ),
    Category(
        "vases-and-plants",
        "Vases & plants",
        "living",
        "Pots with saucers, vases for one stem or a whole bunch, and what plants need besides.",
        "plant-pot/c8724c-5f8a5a",
    ),
    # Kitchen
    Category(
        "kitchen",
        "Kitchen",
        None,
        "Things for the table and the stove that are used every single day.",
        "kitchen-scene/3e7f80-d6a03f-dfcfb0",
    ),
    Category(
        "tableware",
        "Tableware",
        "kitchen",
        "Stoneware, glass and enamel for the first coffee and the last guest.",
        "plate/97b8d1",
    ),
    Category(
        "mugs-tea-and-coffee",
        "Mugs, tea & coffee",
        "tableware",
        "Mugs and cups that sit well in the hand, pots and kettles to fill them, and tea worth the wait.",
        "mug/c8724c-efeae0",
    ),
    Category(
        "plates-and-bowls",
        "Plates & bowls",
        "tableware",
        "Reactive glazes, so that no two pieces are quite alike, and shapes that stack.",
        "bowl/62717f-efeae0",
    ),
    Category("cooking", "Cooking", "kitchen", "Iron, steel and wood that get better with use.", "casserole/b2572f"),
    Category(
        "cookware-and-knives",
        "Cookware & knives",
        "cooking",
        "Pans, pots, knives and boards made to be repaired, sharpened and handed on.",
        "pan/43474c-c79a63",
    ),
    # Clothing
    Category(
        "clothing",
        "Clothing",
        None,
        "Plain, well-cut clothes in natural fibres, and the bags to go with them.",
        "clothing-scene/d6a03f-3e7f80-dfcfb0",
    ),
    Category(
        "tops",
        "Tops",
        "clothing",
        "Tees, shirts and jumpers to wear all year, one over the other.",
        "t-shirt/62717f",
    ),
    Category(
        "t-shirts-and-shirts",
        "T-shirts & shirts",
        "tops",
        "Tees in heavy organic cotton and shirts in linen and Oxford cloth.",
        "t-shirt/97b8d1",
    ),
    Category(
        "jumpers-and-cardigans",
        "Jumpers & cardigans",
        "tops",
        "Knitwear in merino and lambswool, and a hoodie for the days in between.",
        "jumper/9c3f52",
    ),
    Category(
        "accessories",
        "Accessories",
        "clothing",
        "What you take along, from the socks up.",
        "backpack/3f6350-c79a63",
    ),
    Category(
        "bags-hats-and-socks",
        "Bags, hats & socks",
        "accessories",
        "Canvas bags for the market and the mountain, and wool for both ends of you.",
        "tote/dfcfb0-62717f",
    ),
    # Desk
    Category("desk", "Desk", None, "Paper, pens and a tidy place to use them.", "desk-scene/2f4160-d6a03f-9c3f52"),
    Category(
        "stationery",
        "Stationery",
        "desk",
        "Paper that takes ink well, and the tools to write on it.",
        "pencils/d6a03f-3e7f80-9c3f52",
    ),
    Category(
        "notebooks-and-paper",
        "Notebooks & paper",
        "stationery",
        "Notebooks that lie flat, sketchbooks that take water and letters that get read.",
        "notebook/9c3f52-dfcfb0",
    ),
    Category(
        "pens-and-desk-tools",
        "Pens & desk tools",
        "stationery",
        "Pens to keep, pencils to use up and a place for each of them.",
        "organiser/c79a63-3e7f80",
    ),
)
