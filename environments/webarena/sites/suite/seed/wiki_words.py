"""What the wiki describes, as data: an invented country with regions, towns, rivers, museums and railways."""

REGIONS: dict[str, tuple[str, ...]] = {
    "Northmoor": ("Amberwick", "Birchhaven", "Coldwater", "Dunmere", "Eastfold"),
    "Silver Coast": ("Farrow Bay", "Gullport", "Harrowmouth", "Inkerby", "Kelpstead"),
    "Middlemark": ("Larkfield", "Millbrook", "Netherby", "Oakhurst", "Pennerley"),
    "High Fells": ("Quarrydale", "Ravenscar", "Stonebeck", "Thornhill", "Upperlin"),
}
RIVERS = ("Arle", "Brannock", "Corrin", "Delven", "Eskmere", "Fennow")
MUSEUMS = (
    ("Museum of Clocks", "Amberwick"), ("Harbour Museum", "Gullport"), ("Salt Museum", "Kelpstead"),
    ("Museum of Milling", "Millbrook"), ("Slate Museum", "Quarrydale"), ("Glass Museum", "Oakhurst"),
    ("Museum of Maps", "Larkfield"), ("Lighthouse Museum", "Farrow Bay"),
)  # fmt: skip
RAILWAYS = (
    ("Northern Line", ("Amberwick", "Coldwater", "Larkfield")),
    ("Coast Line", ("Farrow Bay", "Gullport", "Kelpstead", "Harrowmouth")),
    ("Fells Railway", ("Thornhill", "Stonebeck", "Ravenscar")),
    ("Cross Country Line", ("Gullport", "Millbrook", "Oakhurst", "Quarrydale")),
)
FESTIVALS = (
    ("Lantern Week", "Dunmere", "November"), ("Herring Fair", "Inkerby", "August"),
    ("Sheep Days", "Upperlin", "September"), ("Book Market", "Pennerley", "May"),
    ("Kite Festival", "Farrow Bay", "April"),
)  # fmt: skip
MAYORS = (
    "Edith Calloway", "Tobias Renn", "Marguerite Voss", "Anselm Pike", "Harriet Lowe", "Cornelius Adair",
    "Beatrix Holm", "Silas Whitlock", "Josephine Crane", "Leopold Fitch",
)  # fmt: skip
INDUSTRIES = (
    "clock making", "fishing", "wool", "paper mills", "salt works", "slate quarries", "glass", "cheese", "printing",
    "boat building",
)  # fmt: skip
SENTENCES = {
    "History": (
        "The oldest record of the town is a tax roll.", "A fire destroyed the market hall, which was rebuilt in stone.",
        "The railway brought the first factories.", "During the long winter the river froze to its mouth.",
        "A charter gave the town the right to hold a weekly market.",
    ),
    "Geography": (
        "The old town lies on the left bank.", "Three hills shelter it from the north wind.",
        "Marshes to the south are a nature reserve.", "The valley narrows above the weir.",
    ),
    "Culture": (
        "The town band plays on the square every Sunday in summer.", "A choir of millers has existed since 1871.",
        "The library holds the papers of two poets.", "Local cooking is known for barley soup.",
    ),
}  # fmt: skip
HELP_PAGES = {
    "Editing": "Open an article, choose *Edit*, change the text and save. Describe the change in the summary.",
    "Style guide": "Write in the present tense. Give a source for every number. One article for one thing.",
    "Creating articles": "Open the parent article and choose *Create*. Pick a short address without capitals.",
}
