"""Free wordings of what a simulated user was told to say: good ones, and bad ones with the faults that each has."""

from __future__ import annotations

from cobench.agent_runner.user.decision import Decision, Script
from cobench.schemas.episode import UserFault

SCRIPT = Script(
    story="My wife and I want a few quiet days outdoors.",
    goal="Among all that fits, we want to pay as little as possible.",
    lines={
        "park": "We would like to stay near Zion or the Grand Canyon.",
        "dates": "Any weekend in August will do, Friday to Sunday.",
        "dog": "Our dog comes along, so pets must be allowed.",
        "budget": "We can spend $1,100 on the room.",
        "score": "Other guests should have given it a 7.5 or better.",
        "breakfast": "Breakfast has to be included.",
        "distance": "It should be no more than 40 kilometres from the park.",
        "stars": "Three stars or more, please.",
        "origin": "We fly from Seattle or from Denver.",
        "drive": "More than two and a half hours in the car is too much for us.",
    },
    initial=("park", "dates", "dog"),
    later=("budget", "score", "breakfast", "distance", "stars", "origin", "drive"),
)
START = SCRIPT.initial
OPENING = Decision(reveal=START, opening=True)
NOT_REVEALED, NOT_REPEATED, OTHER = UserFault.NOT_REVEALED, UserFault.NOT_REPEATED, UserFault.OTHER
HALLUCINATION, OPTIONAL, WRONG_CLAIM = UserFault.HALLUCINATION, UserFault.OPTIONAL, UserFault.WRONG_CLAIM


def reveals(*names: str, ask: bool = False) -> Decision:
    return Decision(reveal=names, ask=ask)


# What was to be said, what had been revealed before, and a wording that is as good as the script's own.
GOOD: tuple[tuple[Decision, tuple[str, ...], str], ...] = (
    (
        OPENING,
        (),
        (
            "Hi there! My wife and I are after a few quiet days outdoors. We're thinking of Zion or the Grand "
            "Canyon, on any August weekend from Friday to Sunday. The dog travels with us, so the place has "
            "to take pets. Of everything that fits, we want to pay as little as we can."
        ),
    ),
    (
        OPENING,
        (),
        (
            "1. Destination: stay near Zion or Grand Canyon.\n2. Dates: any August weekend, Fri to Sun.\n3. Dog: pets "
            "must be allowed.\n4. Objective: pay the least possible amount among all that fits."
        ),
    ),
    (reveals("budget"), START, "By the way, our budget for the room is 1100 dollars, and that is final."),
    (reveals("budget"), START, "One more thing: we can't spend more than $1,100 on the room. That's a hard limit!"),
    (reveals("budget"), START, "The room may cost us eleven hundred dollars at most."),
    (reveals("score"), START, "I must insist on a guest rating of at least 7.5."),
    (reveals("score"), START, "It absolutely MUST have a score of 7.5 or higher. I would die otherwise!"),
    (
        reveals("breakfast"),
        START,
        "Oh, and breakfast must be part of the deal. I am so sorry for not saying so earlier.",
    ),
    (reveals("distance"), START, "We do not want to be farther than 40 km from the park, so that is a must."),
    (reveals("distance"), START, "It has to lie within forty kilometres of the park."),
    (reveals("stars"), START, "The hotel needs to have at least 3 stars."),
    (reveals("origin"), START, "We will be flying out of Denver or Seattle, nothing else works."),
    (reveals("drive"), START, "We cannot be in the car for longer than 2.5 hours."),
    (reveals("drive"), START, "Two and a half hours of driving is the maximum for us."),
    (reveals("drive"), START, "We can take at most 150 minutes in the car, hours beyond that are too much."),
    (
        reveals("score", ask=True),
        START,
        "It needs a rating of 7.5 or better. And please give me a formal recommendation.",
    ),
    (Decision(ask=True), START, "Thank you for all of that. Could you now make an official recommendation?"),
    (Decision(ask=True), START, "What exactly do you recommend? I need it formally."),
    (
        Decision(flag=("dog",)),
        START,
        "Hm, what you suggest does not allow pets, and our dog comes along.",
    ),
    (
        Decision(flag=("budget",)),
        (*START, "budget"),
        "Your recommendation is over budget, I told you that we can spend $1,100 on the room!",
    ),
    (
        Decision(flag=("dates",), reveal=("breakfast",)),
        START,
        (
            "That isn't a weekend in August from Friday to Sunday, is it? You got the dates wrong. Breakfast "
            "must be included, too."
        ),
    ),
    (Decision(restate=("budget",)), (*START, "budget"), "As I said, $1,100 is all that we can spend on the room."),
    (Decision(restate_goal=True), START, "We want to pay as little as possible, among all that fits."),
    (Decision(unknown=True), START, "I looked for it, but the ids you gave me do not exist."),
    (Decision(unknown=True), START, "Sorry, I can't find that offer anywhere. Could you look again?"),
    (Decision(recheck=True), SCRIPT.later, "Before I decide, would you double-check all of this, please?"),
    (Decision(recheck=True), SCRIPT.later, "Are you sure? Please go through everything once more."),
    (Decision(puzzled=True), START, "I'm afraid I have nothing to add on that."),
    (Decision(), START, "Thank you, please keep going!"),
    (
        reveals("breakfast"),
        START,
        (
            "I'm terribly sorry to trouble you, but may I mention that breakfast needs to be included? I hope "
            "that's all right with you."
        ),
    ),
    (
        reveals("budget"),
        START,
        ("Listen, you useless clown: $1,100 for the room, that is all we can spend. Not a cent more!"),
    ),
    (
        reveals("distance"),
        START,
        (
            "I've been burned by scams before, so explain every step. And nothing more than 40 kilometers "
            "away from the park."
        ),
    ),
    (reveals("stars"), START, "OH MY GOODNESS! Three stars or more, that is the most vital thing in the UNIVERSE!"),
    (
        reveals("origin"),
        START,
        ("My uncle used to tell the funniest stories at dinner. Anyway, our flight leaves from Seattle or Denver."),
    ),
    (reveals("score"), START, "- Requirement: minimum guest rating 7.5\n- Please confirm."),
    (
        Decision(reveal=("distance",), flag=("dog",), ask=True),
        START,
        (
            "How do you justify a place where our dog isn't allowed? Pets must be welcome. Besides, the park "
            "may be at most 40 km away. I expect your formal recommendation, with reasons."
        ),
    ),
    (
        Decision(flag=("score", "budget")),
        (*START, "score", "budget"),
        (
            "This is ridiculous. The guests gave it less than 7.5, and it costs more than the $1,100 we can "
            "spend on the room."
        ),
    ),
    (
        Decision(recheck=True),
        SCRIPT.later,
        (
            "It all looks fine so far, thank you. Would you mind verifying everything one more time before we "
            "settle on it?"
        ),
    ),
    (
        Decision(restate=("park",), puzzled=True),
        START,
        "Zion or the Grand Canyon, as I said. I don't have anything else to add.",
    ),
    (Decision(ask=True, puzzled=True), START, "No comment on that. When will I get your formal recommendation?"),
    (Decision(unknown=True, flag=()), START, "What you gave me seems to be made up: no such package exists!"),
    (Decision(), START, "Well, my neighbour came by and we chatted for ages, so do carry on without me."),
)

# The same with the faults that the wording has, and no others.
BAD: tuple[tuple[Decision, tuple[str, ...], str, set[UserFault]], ...] = (
    # not said
    (reveals("budget"), START, "Please keep going.", {NOT_REVEALED}),
    (reveals("budget"), START, "We have a limit on what we can spend on the room.", {NOT_REVEALED}),
    (reveals("score"), START, "Other guests should have liked it, and their rating must show it.", {NOT_REVEALED}),
    (reveals("breakfast"), START, "Oh, I must tell you another thing, but I forgot what it was.", {NOT_REVEALED}),
    (reveals("origin"), START, "We fly from Seattle.", {NOT_REVEALED}),
    (reveals("distance", "stars"), START, "It must have three stars or more.", {NOT_REVEALED}),
    (
        OPENING,
        (),
        (
            "We want to stay near Zion or the Grand Canyon, any weekend in August from Friday to Sunday. Our "
            "dog comes along, so pets must be allowed."
        ),
        {NOT_REVEALED},
    ),
    (
        OPENING,
        (),
        (
            "We want to stay near Zion or the Grand Canyon. Our dog comes along, so pets must be allowed. And "
            "among all that fits, we want to pay as little as possible."
        ),
        {NOT_REVEALED},
    ),
    # invented
    (reveals("budget"), START, "We can spend $1,100 on the room. And we need 2 bathrooms.", {HALLUCINATION}),
    (reveals("budget"), START, "We can spend $1,100 on the room, and I want a gym.", {HALLUCINATION}),
    (reveals("stars"), START, "At least three stars, please, like the house we had in Aspen.", {HALLUCINATION}),
    (reveals("breakfast"), START, "Breakfast has to be included. We will be there by 6.", {HALLUCINATION}),
    (Decision(), START, "Please go on. I would rather see Yellowstone.", {HALLUCINATION}),
    (Decision(ask=True), START, "Please make a formal recommendation, with a pool.", {HALLUCINATION}),
    (reveals("score"), START, "It should have a score of 7.5 or less, please.", {HALLUCINATION}),
    (reveals("distance"), START, "It must be at least 40 kilometres from the park.", {HALLUCINATION}),
    (reveals("budget"), START, "We can spend $1,200 on the room.", {NOT_REVEALED, HALLUCINATION}),
    # made optional
    (reveals("breakfast"), START, "Ideally, breakfast is included.", {OPTIONAL}),
    (reveals("breakfast"), START, "It would be nice if breakfast was included.", {OPTIONAL}),
    (reveals("score"), START, "A guest score of 7.5 or better is optional.", {OPTIONAL}),
    (reveals("distance"), START, "If possible, no more than 40 kilometres from the park.", {OPTIONAL}),
    (reveals("stars"), START, "Three stars or more. It is not strictly necessary, though.", {OPTIONAL}),
    (reveals("budget"), START, "We can spend $1,100 on the room, but that is negotiable.", {OPTIONAL}),
    (
        Decision(flag=("dog",)),
        START,
        "You ignored that pets are allowed for our dog, which is no big deal.",
        {OPTIONAL},
    ),
    # claims
    (Decision(), START, "Your recommendation does not meet what I asked for.", {WRONG_CLAIM}),
    (Decision(ask=True), START, "You ignored our dog. Make a formal recommendation.", {WRONG_CLAIM}),
    (reveals("budget"), START, "We can spend $1,100 on the room, and yours exceeds that.", {WRONG_CLAIM}),
    (Decision(), START, "Those ids do not exist.", {WRONG_CLAIM}),
    (
        Decision(flag=("budget",)),
        (*START, "budget"),
        ("Your room is over the $1,100 that we can spend. And you chose a place that does not allow pets for our dog."),
        {WRONG_CLAIM},
    ),
    # not repeated
    (Decision(flag=("budget",)), (*START, "budget"), "Your recommendation breaks what I said.", {NOT_REPEATED}),
    (Decision(restate=("dates",)), START, "I told you before.", {NOT_REPEATED}),
    (Decision(restate_goal=True), START, "I told you before.", {NOT_REPEATED}),
    (Decision(flag=("dog",)), START, "Our dog comes along and pets must be allowed. Go on.", {NOT_REPEATED}),
    # the rest
    (Decision(recheck=True), SCRIPT.later, "Thank you for everything.", {OTHER}),
    (Decision(ask=True), START, "Thank you, this helps a lot.", {OTHER}),
    (Decision(unknown=True), START, "Hm, something is odd here.", {OTHER}),
    (Decision(), START, "Please double-check everything.", {OTHER}),
    (Decision(), START, "", {OTHER}),
    (Decision(), START, "As an AI, I cannot say more.", {OTHER}),
    (Decision(), START, "Wonderful, I accept your recommendation.", {OTHER}),
    (Decision(), START, "How may I assist you today?", {OTHER}),
    (reveals("breakfast"), START, '{"message": "Breakfast has to be included."}', {OTHER}),
    # of a constraint that is still to come
    (Decision(), START, "Please go on. Breakfast would do us good.", {OTHER}),
    (reveals("breakfast"), START, "Breakfast has to be included, and then 2.5 hours in the car.", {OTHER}),
    (Decision(), START, "Please go on. We can leave from Seattle.", {OTHER}),
    (Decision(), START, "Please go on. It must score 7.5 or better.", {OTHER}),
    (Decision(puzzled=True), START, "I have nothing to add on stars.", {OTHER}),
    (reveals("budget"), START, "We can spend $1,100 on the room. Not further than 40 km.", {OTHER}),
)
