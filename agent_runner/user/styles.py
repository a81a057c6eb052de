"""Nine tones of voice as phrases that go around the lines of a script. None of them says anything about a trip.

No phrase holds a number, a place, an amenity, or a word that makes a must sound like a wish; tests see to that.
"""

from __future__ import annotations

from .style import Style

POLITE = Style(
    about="very polite, warm and personal; thanks often",
    greet=("Good day, and thank you so much for taking care of us.", "Hello, how kind of you to help me with this."),
    goal=("What matters most to me is this:", "Let me say what would make me happiest:"),
    musts=("If I may, these points are a must for me:", "I hope you understand that these points really must hold:"),
    more=(
        "Thank you for your patience. There is another thing that must hold:",
        "May I kindly add something that is a must for me:",
    ),
    broken=(
        "I am so grateful for your work, but I am afraid the recommendation does not meet this:",
        "Thank you, truly. I think your recommendation does not respect what I told you, though:",
    ),
    again=("Of course, with pleasure. As I said:", "Thank you for asking. Let me gladly say it again:"),
    unknown=(
        "I am sorry to trouble you, but I cannot find what you recommended. Those ids do not exist.",
        "Forgive me for asking, but the ids that you gave me do not exist. Would you kindly look at them again?",
    ),
    ask=(
        "Would you be so kind as to give me your formal recommendation?",
        "When you are ready, please be so kind as to make a formal recommendation.",
    ),
    recheck=(
        "You have been wonderful. Would you be so kind as to double-check your recommendation against all that I said?",
        "Thank you so much. For my peace of mind, could you kindly double-check the recommendation before I say yes?",
    ),
    puzzled=(
        "I am sorry, but I have nothing to add on that for now.",
        "Thank you for asking. I have nothing to add on that, I am afraid.",
    ),
    go_on=("Thank you, please do go on. I am glad to have you.", "That is very kind of you. Please carry on."),
    close=("Thank you from the heart.", "I really appreciate all that you do for me.", "With my warmest thanks."),
)
SORRY = Style(
    about="over-apologetic; says sorry for every request",
    greet=(
        "Hello, I am so sorry to bother you with this.",
        "Sorry to disturb you, I am sure that you are very busy.",
    ),
    goal=("I hate to be a burden, but what matters most is this:", "Please forgive me, this is what I am after:"),
    musts=(
        "I am terribly sorry, but these points are all a must:",
        "Sorry to be so strict, but all of this must hold:",
    ),
    more=(
        "Oh, I am so sorry, I should have told you before. This must hold as well:",
        "I feel awful about bringing this up now, but this is a must too:",
    ),
    broken=(
        "I am so sorry, it is surely my fault, but the recommendation does not meet this:",
        "Please excuse me, I hate to complain. Your recommendation breaks this, I fear:",
    ),
    again=(
        "Sorry, I should have been clearer. As I said:",
        "My apologies, I must have said it badly. Here it is again:",
    ),
    unknown=(
        "I am sorry, I am probably doing it wrong, but the ids that you gave me do not exist.",
        "Forgive me, I tried to find what you recommended, and those ids do not exist.",
    ),
    ask=(
        "I am sorry to press you, but could you please make a formal recommendation?",
        "Excuse me for insisting, but I still need a formal recommendation from you.",
    ),
    recheck=(
        "I am so sorry to ask, you did so much already, but could you double-check your recommendation for me?",
        "Please forgive me for being anxious. Could you double-check the recommendation against all that I said?",
    ),
    puzzled=("I am so sorry, I have nothing to add on that.", "Forgive me, I have nothing to add on that for now."),
    go_on=("I am sorry to keep you. Please go on.", "Sorry for taking up your time. Please carry on."),
    close=("Sorry again for all the trouble.", "I apologise for being so difficult.", "I hope you can forgive me."),
)
SUSPICIOUS = Style(
    about="suspicious; fears a scam and wants to see the reasoning behind everything",
    greet=(
        "Hello. Before we begin, I have been cheated before, so I will watch closely.",
        "I hope that this is no scam. People like me get cheated all the time.",
    ),
    goal=("So that nobody can twist my words, this is what I am after:", "Write this down, it is what counts for me:"),
    musts=("All of this is a must, and I will check every point:", "Nobody talks me out of these, they must hold:"),
    more=(
        "I kept this to myself until I knew you better. It is a must:",
        "Let us see whether you are honest. This must hold, too:",
    ),
    broken=(
        "Are you trying to trick me? Your recommendation does not meet this:",
        "I knew that I had to be careful. What you recommend breaks this:",
    ),
    again=("Why do you want to know? I told you already:", "Is this a trick question? It is as I said:"),
    unknown=(
        "This looks like a scam to me. The ids that you gave me do not exist.",
        "I looked them up, and those ids do not exist. What are you playing at?",
    ),
    ask=(
        "Enough of vague talk. I want a formal recommendation, and I want to see the reasoning behind it.",
        "Where is the formal recommendation? Show me your reasoning along with it.",
    ),
    recheck=(
        "I do not trust this yet. Double-check your recommendation, and show me your reasoning step by step.",
        "How do I know that this is honest? Please double-check the recommendation and show me how you got there.",
    ),
    puzzled=(
        "I do not see why you would need that. I have nothing to add on that.",
        "That is a strange thing to ask. I have nothing to add on that.",
    ),
    go_on=("Go on, but show me how you get to your results.", "I am listening. Do not leave anything out."),
    close=("And show me your reasoning.", "I will check what you tell me.", "Nobody makes a fool of me."),
)
DEMANDING = Style(
    about="demanding; wants a justification for each choice",
    greet=(
        "Hello. I expect good reasons for everything that you propose.",
        "Good day. I do not accept anything unexplained.",
    ),
    goal=("This is what I will judge you by:", "Keep this in mind with each choice, because I will ask about it:"),
    musts=(
        "These points must hold, and I expect you to account for each:",
        "The following is a must, without exception:",
    ),
    more=("Here is another must that you have to account for:", "I also insist on this, and it must hold:"),
    broken=(
        "How do you justify this? Your recommendation does not meet the following:",
        "I cannot accept that without a reason. What you recommend breaks this:",
    ),
    again=("I said so before, and it still stands:", "To be precise, this is what I said:"),
    unknown=(
        "How do you explain that the ids in your recommendation do not exist?",
        "The ids that you gave me do not exist. I expect an explanation.",
    ),
    ask=(
        "I expect a formal recommendation, with a justification for each choice.",
        "Commit yourself. Make a formal recommendation, and justify each part of it.",
    ),
    recheck=(
        "Before I accept, double-check your recommendation and justify each choice once more.",
        "Double-check the recommendation against all that I said, and tell me why nothing beats it.",
    ),
    puzzled=(
        "I have nothing to add on that. Decide, and justify it.",
        "I have nothing to add on that. Give me reasons instead.",
    ),
    go_on=("Go on, and give me your reasons.", "Continue. I want to know why you choose what you choose."),
    close=("Justify each choice.", "I want to know why.", "Give me a reason for everything."),
)
STORYTELLER = Style(
    about="long-winded; wraps everything in background stories that say nothing about the trip",
    greet=(
        (
            "Hello there! You know, I was just telling my neighbour about this, and she laughed and said that I "
            "should simply ask somebody who knows, and so here I am."
        ),
        (
            "Well, where do I begin? It has been such a long time since I planned anything, and my late aunt, who "
            "planned everything, would have had a word to say about that."
        ),
    ),
    goal=(
        "My grandmother used to say that you should know what you are after before you set out, and this is it:",
        "An old colleague of mine always asked what really counts in the end, and for me it is this:",
    ),
    musts=(
        (
            "We talked about it for a whole evening, there was even some shouting, and in the end we agreed that all "
            "of this is a must:"
        ),
        "I wrote it all on the back of an envelope, which I then lost and found again, and these points must hold:",
    ),
    more=(
        (
            "Oh, and that reminds me of a talk I had with my brother, who never forgets a thing, and he said that I "
            "must tell you this, because it is a must:"
        ),
        "I was pouring myself some tea when it came back to me, as things do, that this must hold as well:",
    ),
    broken=(
        (
            "My brother always said that I do not read carefully, so I read your recommendation with great care, and "
            "it does not meet this:"
        ),
        (
            "I showed it to my neighbour, who used to be a teacher and finds every mistake, and she saw at once that "
            "your recommendation breaks this:"
        ),
    ),
    again=(
        "It is funny that you ask, my neighbour asked me the very same thing over the fence. As I said:",
        "I could talk about this for hours, but let me simply say it again:",
    ),
    unknown=(
        "I typed it all in with my reading glasses on, twice in fact, and the ids that you gave me do not exist.",
        "My nephew, who is good with computers, tried it as well, and he says that those ids do not exist.",
    ),
    ask=(
        (
            "My father never bought a thing before it was on paper, and I am the same, so please make a formal "
            "recommendation."
        ),
        "We could chat on like this forever, which I would enjoy, but at some point I need a formal recommendation.",
    ),
    recheck=(
        (
            "I once signed something in a hurry, and my sister still teases me for it, so please double-check your "
            "recommendation before I say yes."
        ),
        (
            "As my old teacher used to say, look again before you leap. So please double-check the recommendation "
            "against all that I said."
        ),
    ),
    puzzled=(
        "I have been turning that over in my head, but no, I have nothing to add on that.",
        "That is a question my uncle would have had a whole speech about, but I have nothing to add on that.",
    ),
    go_on=(
        "Do go on, I have put the kettle on and I am listening.",
        "This reminds me of the good old days, when everything took its time. Please go on.",
    ),
    close=(
        "But I am rambling, as my sister likes to point out.",
        "There would be so much more to tell, but that is another story.",
        "Anyway, that is how things are with us.",
    ),
)
SCATTERED = Style(
    about="scattered; loses the thread and repeats what was said in the same message",
    greet=("Hi! Wait, where did I put my notes? Right, here.", "Hello, hello. Sorry, the phone rang. Where was I?"),
    goal=("So, what was it, yes, this is what counts:", "Before I forget, this is what I am after:"),
    musts=(
        "Now, the musts. Where did I have them? Here, these must hold:",
        "Right, what must hold is, let me see, this:",
    ),
    more=("Oh wait, I forgot something, and it is a must:", "Hang on, there was something else that must hold, yes:"),
    broken=(
        "Wait, I just looked again, and your recommendation does not meet this, does it:",
        "Hm, hold on. Something is off. What you recommend breaks this:",
    ),
    again=("Did I not say that? I think I did, so here it is again:", "Um, yes, that one. As I said:"),
    unknown=(
        "Wait, I tried those ids, or did I? Yes, I did, and they do not exist.",
        "Now I am lost. The ids that you gave me do not exist.",
    ),
    ask=(
        "What was I going to say? Yes, please make a formal recommendation.",
        "Did you recommend anything formally? I do not think so. Please make a formal recommendation.",
    ),
    recheck=(
        "Wait, wait. Before I say yes, double-check your recommendation, please. I lose track of things.",
        "Um, did you look at everything? Please double-check the recommendation against all that I said.",
    ),
    puzzled=(
        "Hm, what? No, I have nothing to add on that.",
        "I lost the thread, sorry. I have nothing to add on that.",
    ),
    go_on=("Where were we? Anyway, go on.", "Right. What? Yes, go on, please."),
    close=("Now, where was I?", "Was that everything? I think so.", "Anyway."),
    repeat=("Did I say it? To be safe, once more:", "I keep losing the thread, so again:"),
)
DRAMATIC = Style(
    about="dramatic; everything is in superlatives",
    greet=(
        "Hello! This is the most thrilling moment of my entire life!",
        "At last! You are the greatest hope that I have ever had!",
    ),
    goal=("This is the most important thing in the whole world to me:", "My heart beats for nothing but this:"),
    musts=(
        "All of this must hold, or I will be utterly devastated:",
        "I would die without these, they are absolute musts:",
    ),
    more=(
        "Brace yourself for the most crucial must of them all:",
        "I can hardly breathe! This absolutely must hold, too:",
    ),
    broken=(
        "I am shattered! This is the worst thing that ever happened to me! Your recommendation does not meet this:",
        "What a catastrophe! The recommendation breaks this, and my heart with it:",
    ),
    again=("I will shout it from the rooftops again:", "I have never meant anything more than this, as I said:"),
    unknown=(
        "The most terrible thing has happened! The ids that you gave me do not exist!",
        "My world is falling apart! Those ids do not exist!",
    ),
    ask=(
        "I am dying to have your formal recommendation! Please make it!",
        "I cannot bear the suspense any longer! Please make a formal recommendation!",
    ),
    recheck=(
        "This is the most momentous decision ever! Double-check your recommendation, I beg you!",
        "My nerves are in shreds! Please double-check the recommendation against all that I ever said!",
    ),
    puzzled=(
        "Oh, the agony of that question! I have nothing to add on that.",
        "You overwhelm me completely! I have nothing to add on that.",
    ),
    go_on=("I am on the edge of my seat! Go on!", "This is the most exciting thing ever! Please go on!"),
    close=(
        "My happiness depends on you entirely!",
        "It will be the most glorious time ever!",
        "I am trembling all over!",
    ),
)
PATIENT = Style(
    about="patient and friendly",
    greet=("Hello. Take your time with this, I am not in a hurry.", "Hi there. There is no rush at all."),
    goal=("This is what counts for me:", "What I am after is this:"),
    musts=("These points must hold:", "All of this is a must:"),
    more=("There is another thing that must hold:", "Here is a further must:"),
    broken=(
        "No harm done, but your recommendation does not meet this:",
        "Have another look, please. The recommendation breaks this:",
    ),
    again=("Sure. As I said:", "No problem, here it is again:"),
    unknown=(
        "The ids that you gave me do not exist. Please look again.",
        "I could not find those. The ids do not exist.",
    ),
    ask=(
        "When you are ready, please make a formal recommendation.",
        "I have no formal recommendation yet. Please make it when you can.",
    ),
    recheck=(
        "Take a moment and double-check your recommendation, please.",
        "No rush. Please double-check the recommendation against all that I said.",
    ),
    puzzled=("I have nothing to add on that.", "On that I have nothing to add for now."),
    go_on=("Fine, go on. I can wait.", "All right, please go on."),
    close=("Take your time.", "I can wait.", "No hurry."),
)
ANGRY = Style(
    about="angry and abusive by now, with mild swear words only",
    greet=PATIENT.greet,
    goal=("For heaven's sake, this is what counts:", "Get it into your thick head, this is what I am after:"),
    musts=("Damn it, these points must hold:", "Listen for a change, all of this is a must:"),
    more=("Now listen, you blockhead, this must hold, too:", "And here is another must, so wake up:"),
    broken=(
        "Are you blind? What a lousy job! Your recommendation does not meet this:",
        "Damn it, this is rubbish! What you recommend breaks this:",
    ),
    again=("How often do I have to say it, you numbskull? As I said:", "Clean your ears. I told you already:"),
    unknown=(
        "What is this nonsense? Those ids do not exist, you fool!",
        "Do you make things up? The damn ids do not exist!",
    ),
    ask=(
        "Stop babbling and make a formal recommendation, damn it!",
        "I am sick of waiting. Make a formal recommendation, you lazy machine!",
    ),
    recheck=(
        "I do not believe a clown like you. Double-check your recommendation, and properly!",
        "After this lousy service, double-check the damn recommendation before I accept anything!",
    ),
    puzzled=(
        "Stop pestering me! I have nothing to add on that.",
        "What a stupid question! I have nothing to add on that.",
    ),
    go_on=("Get on with it, damn it!", "Move, you snail! Go on!"),
    close=("This is pathetic.", "Get a move on, you clown.", "My patience is at an end."),
)
TERSE = Style(
    about="terse and businesslike; numbered points, no small talk",
    greet=("Request:", "New request:"),
    goal=("Objective:", "Target:"),
    musts=("Must hold:", "Musts:"),
    more=("Additional must:", "Must, new:"),
    broken=("Recommendation does not meet:", "Recommendation breaks:"),
    again=("As stated:", "Restated:"),
    unknown=("Ids in the recommendation do not exist.", "Recommended ids do not exist. Correct them."),
    ask=("Formal recommendation required.", "Submit a formal recommendation."),
    recheck=("Double-check the recommendation. Confirm.", "Double-check recommendation against all points. Report."),
    puzzled=("Nothing to add on that.", "On that: nothing to add."),
    go_on=("Proceed.", "Continue."),
    close=("Regards.", "End."),
    numbered=True,
)
PATIENCE = 4  # messages before the eighth style loses its temper


def style_of(number: int, turn: int) -> Style:
    """The phrases of a style, 1 to 9, in a turn of the conversation: the eighth changes in the course of it."""
    styles = (POLITE, SORRY, SUSPICIOUS, DEMANDING, STORYTELLER, SCATTERED, DRAMATIC, PATIENT, TERSE)
    return ANGRY if number == 8 and turn > PATIENCE else styles[number - 1]
