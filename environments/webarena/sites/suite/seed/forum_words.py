"""What people talk about on the forum, as data: categories, boards, subjects and things one answers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BoardWords:
    """One board: what it is about, what is discussed, and what is said."""

    name: str
    description: str
    subjects: tuple[str, ...]
    openings: tuple[str, ...]
    answers: tuple[str, ...]


BOARDS: dict[str, tuple[BoardWords, ...]] = {
    "Places": (
        BoardWords(
            "Lisbon", "Trams, tiles and where to eat.",
            ("Quiet cafes near Graca", "Is the number 28 tram worth the wait?", "Three days with two children",
             "Day trip to Sintra by train", "Best viewpoint at sunset", "Tile museum on a Monday?",
             "Where to hear fado without a set menu", "Ferry to Cacilhas"),
            ("I will be there for the first time in October.", "We stay in Alfama for a week.",
             "My guide book is twelve years old, so I ask here."),
            ("Go before nine in the morning and you have it to yourself.", "The ferry is cheaper and the view better.",
             "We tried it last May and would do it again.", "Take the stairs, the lift queue is an hour.",
             "Bring cash, the small places take no cards."),
        ),
        BoardWords(
            "Kyoto", "Temples, gardens and trains.",
            ("Bus pass or walking?", "Moss garden reservations", "Maple leaves in the second week of November",
             "Vegetarian kaiseki", "Bicycle rental near the station", "Luggage forwarding to Tokyo",
             "Temples that open at dawn", "A rainy day in Gion"),
            ("We arrive by the night bus from Tokyo.", "It is my third visit and I want to see less, but longer.",
             "I read contradicting advice about this."),
            ("Reserve by postcard, it really works.", "The northern bus line is never full.",
             "Go in the rain, the gardens are at their best.", "The rental shop behind the post office speaks English.",
             "Two days are enough if you start early."),
        ),
        BoardWords(
            "Pittsburgh", "Bridges, inclines and neighbourhoods.",
            ("Which incline has the better view?", "Parking near the Strip District", "Bike trail to Ohiopyle",
             "Pierogi recommendations", "Moving here in August", "Museums with free evenings",
             "Bridges you can walk across", "Winter tires needed?"),
            ("I start a new job downtown.", "My sister visits for a weekend.", "We just moved to Squirrel Hill."),
            ("The older incline, without a doubt.", "Park on the north side and walk over the bridge.",
             "The trail is paved for the first ten miles.", "Ask at the market, they know everyone.",
             "You will be fine with all-season tires."),
        ),
    ),
    "Hobbies": (
        BoardWords(
            "Books", "What you read and what you gave up on.",
            ("Novels set on islands", "Did you finish the long one?", "Short stories for train rides",
             "Translations from Portuguese", "Reading aloud to adults", "Book club: June pick",
             "Where to sell used books", "Unreliable narrators"),
            ("I have read everything on my shelf.", "My book club asked for proposals.",
             "I gave up after a hundred pages and feel guilty."),
            ("The second half is a different book, keep going.", "The older translation is better.",
             "Our library has two copies.", "Listen to it instead, the reader is wonderful.",
             "I lent mine out and never saw it again."),
        ),
        BoardWords(
            "Gardening", "Beds, balconies and compost.",
            ("Slugs in the lettuce again", "When to prune a young pear tree", "Tomatoes on a north balcony",
             "Compost that smells", "Seed swap in March", "Roses without sprays", "Watering during holidays",
             "Heavy clay soil"),
            ("This is my second summer with a garden.", "I inherited the garden with the house.",
             "I have only a balcony of two square metres."),
            ("Wait until the last frost is over.", "Mix in straw and turn it weekly.",
             "Ducks, if your neighbours allow them.", "Mulch helps more than watering.",
             "Prune less than you think."),
        ),
        BoardWords(
            "Cycling", "Routes, repairs and gear.",
            ("Squeaking disc brakes", "First trip with panniers", "Tubeless on a city bike",
             "Route along the river without cars", "Lights for winter commuting", "How to fit a saddle",
             "Trains that take bicycles", "Chain wax or oil?"),
            ("I ride about forty kilometres a week.", "My bicycle is from 1998 and still good.",
             "The shop wants more than the bicycle is worth."),
            ("Clean the rotor with alcohol first.", "Lower the saddle by a centimetre and try again.",
             "Book the space a week ahead.", "Wax, once you are used to it.", "Wider tyres solve most of that."),
        ),
        BoardWords(
            "Cooking", "Recipes, tools and rescues.",
            ("Sourdough that will not rise", "Seasoning a new skillet", "Soup for twenty people",
             "Substitute for buttermilk", "Sharpening knives at home", "Bread without an oven", "Salted lemons",
             "A week of packed lunches"),
            ("I followed the recipe to the gram.", "There are guests on Saturday.",
             "My grandmother did it differently and never wrote it down."),
            ("Give it another three hours.", "Milk and a spoon of vinegar work as well.",
             "A thin layer of oil, many times.", "Use half the salt and taste at the end.",
             "Freeze half of it, it keeps for months."),
        ),
    ),
    "Technology": (
        BoardWords(
            "Python", "The language and its libraries.",
            ("Typing a decorator", "When does a generator pay off?", "Packaging a small tool",
             "Async for beginners", "Reading a large CSV file", "Sets or dictionaries for lookups?",
             "Testing code that uses the clock", "Dataclasses or plain tuples"),
            ("I come from another language.", "The documentation leaves me puzzled.",
             "My script takes twenty minutes."),
            ("Measure before you change anything.", "Pass the clock in as an argument.",
             "Read it line by line, it fits in memory then.", "The type checker is right, look at the return.",
             "Keep it boring."),
        ),
        BoardWords(
            "Hardware", "Keyboards, screens and soldering.",
            ("Quiet mechanical keyboard", "Second screen for a laptop", "Soldering iron for beginners",
             "Replacing a laptop battery", "Which cable carries video?", "Fan noise after cleaning",
             "Old laptop as a server", "Wrist pain"),
            ("I share an office with three others.", "The warranty ended last week, of course.",
             "I have never opened one before."),
            ("Try heavier switches with rubber rings.", "Only cables with the symbol on the plug carry video.",
             "Buy the second cheapest one.", "Check the fan connector first.", "A vertical mouse helped me."),
        ),
        BoardWords(
            "Self hosting", "Servers at home.",
            ("Backups you have restored", "Photo library for a family", "Mail server: yes or no?",
             "Power use of an old desktop", "Reverse proxy basics", "Updating without downtime",
             "Certificates inside a home network", "Disk failed, now what?"),
            ("My server is an old laptop in a cupboard.", "The family complains when it is down.",
             "I want to leave the cloud by the end of the year."),
            ("A backup you have not restored is a hope.", "Let someone else run the mail.",
             "Measure it with a plug meter.", "Two disks, two places, one of them elsewhere.",
             "Write down what you did, you will forget it."),
        ),
    ),
    "Community": (
        BoardWords(
            "Introductions", "Say hello.",
            ("Hello from Bergen", "New here, love maps", "Back after three years", "A lurker says hello"),
            ("I have read along for a while.", "A friend told me about this place."),
            ("Welcome!", "Good to have you here.", "Greetings from the other side of the hill."),
        ),
        BoardWords(
            "Help with the forum", "Questions about this site.",
            ("How do I change my avatar?", "Can I edit an old post?", "Attachments larger than a megabyte",
             "Where did my draft go?"),
            ("I looked through the menus and found nothing.",),
            ("Open your profile and choose edit.", "Only until a moderator locks the topic.",
             "It is a limit of the site, use a smaller picture."),
        ),
    ),
}  # fmt: skip

RULES = (
    "Forum rules",
    "Be kind. Stay on topic. No advertising. Moderators may lock topics that go in circles.",
)
