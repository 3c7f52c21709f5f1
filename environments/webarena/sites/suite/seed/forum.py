"""The forum: categories, boards, topics, posts and one poll."""

import random
from datetime import timedelta

from django.contrib.auth.models import User
from machina.apps.forum.models import Forum
from machina.apps.forum_conversation.forum_polls.models import TopicPoll, TopicPollOption, TopicPollVote
from machina.apps.forum_conversation.models import Post, Topic
from machina.apps.forum_member.models import ForumProfile
from machina.apps.forum_permission.models import ForumPermission, UserForumPermission

from suite import clock
from suite.seed.forum_words import BOARDS, RULES, BoardWords
from suite.seed.moments import FIRST_MOMENT, LAST_MOMENT
from suite.seed.people import People

POLL_SUBJECT = "Book club: June pick"
POLL_OPTIONS = ("A novel set on an island", "A collection of essays", "A long Russian classic")
LOCKED_SHARE = 0.06


def fill(people: People) -> None:
    """Creates the boards and a few months of conversation."""
    draw = random.Random("forum")
    for codename in ("can_see_forum", "can_read_forum"):
        permission = ForumPermission.objects.get(codename=codename)
        UserForumPermission.objects.create(permission=permission, anonymous_user=True, has_perm=True)
    for person in people.everyone:
        ForumProfile.objects.create(user=person)  # else the first visit of a profile would create it
    boards = _boards()
    _rules(boards["Help with the forum"], people.admin)
    _conversations(draw, boards, people)


def _boards() -> dict[str, Forum]:
    boards: dict[str, Forum] = {}
    for name, words in BOARDS.items():
        category = Forum.objects.create(name=name, type=Forum.FORUM_CAT)
        for board in words:
            boards[board.name] = Forum.objects.create(
                name=board.name, parent=category, type=Forum.FORUM_POST, description=board.description
            )
    return boards


def _rules(board: Forum, admin: User) -> None:
    subject, text = RULES
    with clock.at(FIRST_MOMENT + timedelta(hours=1)):
        topic = _topic(board, admin, subject, Topic.TOPIC_STICKY, Topic.TOPIC_LOCKED)
        Post.objects.create(topic=topic, poster=admin, subject=subject, content=text, approved=True)


def _conversations(draw: random.Random, boards: dict[str, Forum], people: People) -> None:
    plan = [(words, subject) for group in BOARDS.values() for words in group for subject in words.subjects]
    draw.shuffle(plan)
    spacing = (LAST_MOMENT - FIRST_MOMENT - timedelta(days=4)) / len(plan)
    for number, (words, subject) in enumerate(plan):
        with clock.at(FIRST_MOMENT + timedelta(days=1) + spacing * number):
            _conversation(draw, boards[words.name], words, subject, people)


def _conversation(draw: random.Random, board: Forum, words: BoardWords, subject: str, people: People) -> None:
    starter = draw.choice(people.members)
    status = Topic.TOPIC_LOCKED if draw.random() < LOCKED_SHARE else Topic.TOPIC_UNLOCKED
    topic = _topic(board, starter, subject, Topic.TOPIC_POST, status)
    topic.views_count = draw.randint(3, 240)
    topic.save()
    moment = clock.now()
    opening = f"{draw.choice(words.openings)} {subject.rstrip('?')}: what do you think?"
    Post.objects.create(topic=topic, poster=starter, subject=subject, content=opening, approved=True)
    for answer in draw.sample(words.answers, draw.randint(0, len(words.answers))):
        moment = min(moment + timedelta(minutes=draw.randint(7, 900)), LAST_MOMENT - timedelta(minutes=30))
        with clock.at(moment):
            Post.objects.create(
                topic=topic, poster=draw.choice(people.members), subject=f"Re: {subject}", content=answer, approved=True
            )
    if subject == POLL_SUBJECT:
        _poll(draw, topic, people)


def _topic(board: Forum, poster: User, subject: str, kind: int, status: int) -> Topic:
    return Topic.objects.create(forum=board, poster=poster, subject=subject, type=kind, status=status, approved=True)


def _poll(draw: random.Random, topic: Topic, people: People) -> None:
    poll = TopicPoll.objects.create(topic=topic, question="What shall we read next?", max_options=1, user_changes=False)
    options = [TopicPollOption.objects.create(poll=poll, text=text) for text in POLL_OPTIONS]
    for person in people.members[6:18]:
        TopicPollVote.objects.create(poll_option=draw.choice(options), voter=person)
