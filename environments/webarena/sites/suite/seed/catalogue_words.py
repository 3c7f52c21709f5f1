"""What the shop sells, as data: departments, kinds of goods, and the words descriptions are made of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of goods, sold in several collections."""

    name: str
    price_cents: int
    """Typical price; a collection asks up to half more or less."""

    weight_g: int
    materials: tuple[str, ...]


DEPARTMENTS: dict[str, dict[str, tuple[Kind, ...]]] = {
    "Kitchen": {
        "Cookware": (
            Kind("Skillet", 4200, 1900, ("cast iron", "carbon steel", "aluminium")),
            Kind("Saucepan", 3600, 1200, ("stainless steel", "copper", "enamelled steel")),
            Kind("Wok", 3900, 1500, ("carbon steel", "cast iron")),
            Kind("Kettle", 4900, 1100, ("stainless steel", "enamelled steel", "glass")),
        ),
        "Tableware": (
            Kind("Mug", 1400, 340, ("stoneware", "porcelain", "enamelled steel")),
            Kind("Bowl", 1600, 420, ("stoneware", "porcelain", "olive wood")),
            Kind("Plate", 1800, 560, ("stoneware", "porcelain")),
            Kind("Carafe", 2700, 700, ("glass", "stoneware")),
        ),
    },
    "Outdoors": {
        "Camping": (
            Kind("Tent", 18900, 2600, ("ripstop nylon", "polyester")),
            Kind("Lantern", 3200, 410, ("aluminium", "recycled plastic")),
            Kind("Hammock", 5400, 620, ("ripstop nylon", "cotton")),
            Kind("Camp Stove", 6100, 380, ("titanium", "stainless steel")),
        ),
        "Hiking": (
            Kind("Backpack", 11900, 1250, ("ripstop nylon", "waxed canvas")),
            Kind("Water Bottle", 2300, 290, ("stainless steel", "recycled plastic", "aluminium")),
            Kind("Compass", 2900, 60, ("brass", "recycled plastic")),
            Kind("Rain Poncho", 4500, 310, ("polyester", "ripstop nylon")),
        ),
    },
    "Office": {
        "Writing": (
            Kind("Notebook", 1500, 260, ("recycled paper", "cotton paper")),
            Kind("Fountain Pen", 4800, 28, ("brass", "resin", "aluminium")),
            Kind("Pencil Set", 1200, 90, ("cedar", "basswood")),
            Kind("Marker Set", 1900, 210, ("recycled plastic", "aluminium")),
        ),
        "Desk": (
            Kind("Desk Lamp", 7400, 1600, ("steel", "oak", "brass")),
            Kind("Desk Organizer", 3300, 900, ("oak", "steel", "felt")),
            Kind("Stapler", 2100, 240, ("steel", "recycled plastic")),
            Kind("Letter Tray", 2600, 750, ("oak", "steel")),
        ),
    },
    "Living": {
        "Textiles": (
            Kind("Throw Blanket", 6900, 1300, ("wool", "cotton", "linen")),
            Kind("Cushion", 3100, 520, ("linen", "cotton", "wool")),
            Kind("Bath Towel", 2800, 600, ("cotton", "linen")),
            Kind("Table Runner", 2400, 280, ("linen", "cotton")),
        ),
        "Decor": (
            Kind("Vase", 3700, 980, ("stoneware", "glass", "brass")),
            Kind("Candle Holder", 2200, 450, ("brass", "stoneware", "steel")),
            Kind("Wall Clock", 5900, 1100, ("oak", "steel")),
            Kind("Picture Frame", 2500, 640, ("oak", "brass", "basswood")),
        ),
    },
}

COLLECTIONS = (
    "Amber", "Birch", "Copperfield", "Dusk", "Ember", "Frost", "Granite", "Harbor", "Indigo", "Juniper", "Kestrel",
    "Linden", "Maple", "Nimbus", "Ochre", "Pebble", "Quartz", "Russet", "Slate", "Tidal",
)  # fmt: skip

USES = (
    "It was designed for small homes and long use.",
    "Two of us in the shop have used one every day for a year.",
    "The makers offer spare parts for it.",
    "It ships in a box without plastic.",
    "A good choice as a first present for a new home.",
    "It looks better the longer it is used.",
)

CARE = {
    "cast iron": "Rinse with hot water, dry at once and oil lightly.",
    "carbon steel": "Rinse with hot water and dry at once.",
    "copper": "Polish with a soft cloth; not for dishwashers.",
    "olive wood": "Wash by hand and oil twice a year.",
    "oak": "Wipe with a damp cloth and wax once a year.",
    "wool": "Air it often and wash cold, on the wool programme.",
    "linen": "Wash at 40 degrees and dry on a line.",
    "cotton": "Wash at 60 degrees.",
    "waxed canvas": "Brush off dirt and rewax once a season.",
}
DEFAULT_CARE = "Wipe clean with a damp cloth."

REVIEWS = {
    5: (("Exactly what I hoped for", "I have used it for {weeks} weeks and would buy it again."),
        ("A favourite already", "Well made, good to hold, and it arrived early."),
        ("Worth the price", "The {material} feels solid. No complaints after {weeks} weeks.")),
    4: (("Very good with one flaw", "Does its job well; the packaging could be simpler."),
        ("Nearly perfect", "I like it a lot, but it is heavier than I expected."),
        ("Solid", "Good finish. After {weeks} weeks a small scratch shows.")),
    3: (("As described", "Neither better nor worse than the old one I had."),
        ("It is fine", "It works, though the colour differs from the picture."),
        ("Average", "Fine for guests. I would not use it every day.")),
    2: (("Not for me", "Too small for our family, and the {material} marks easily."),
        ("Expected more", "The finish wore off after {weeks} weeks.")),
    1: (("Sent it back", "It arrived damaged and smelled of glue."),
        ("Disappointed", "It broke within {weeks} weeks.")),
}  # fmt: skip
