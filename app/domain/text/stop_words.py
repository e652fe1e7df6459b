"""Stop words: words that say nothing about the content of a page, by language."""

from collections.abc import Sequence

# fmt: off
_ENGLISH = """
a about after again all also am an and another any anything are around as at be because been
before being best better between both but by can cannot could did do does doing during each
either else ever every everything for from get gets getting going had has have having he her
here him his how i if in instead into is it its just let looking many may me might mine more
most much must my need needed needs neither no nor not now of off often on one only or other our
out over per please really same seem she should since so some someone something still such than
that the their them then there these they thing things this those through to too toward towards
trying try under unless until up upon us use used using very want wanted wants was way ways we
well were what whatever when where whether which while who whom whose why will with within
without would yes you your
"""
_GERMAN = """
aber alle als am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den
der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer
eines er es etwas für gegen gibt hat haben hier ich ihr ihre im in ist ja kann kein keine können
man mehr mein meine mich mir mit muss müssen nach nicht noch nur ob oder ohne sein seine sich
sie sind so soll sollte über um und uns unter vom von vor wann war warum was welche welcher
welches wenn wer werden wie wird wir wo wozu zu zum zur
"""
_FRENCH = """
à ai au aussi aux avec avoir ce ces cette comment dans de des donc du elle elles en est et être
eux faire faut fait il ils je la le les leur leurs lui ma mais me mes mon ne nos notre nous on
ont ou où par pas pendant peut plus pour pourquoi quand que quel quelle quelles quels qui sa
sans se ses si son sont sur ta te tes ton tous tout toute très tu un une vos votre vous y
"""
_SPANISH = """
a al algo como con cómo cuál cuando cuándo de del desde donde dónde el ella ellos en entre era
es esta está estas este esto estos fue hacer hay la las le lo los más me mi mis muy no nos o
para pero por porque puede qué que quien quién se ser si sin sobre son su sus también te tiene
tu un una uno unos y ya yo
"""
_ITALIAN = """
a ad al alla alle anche che chi ci come con cosa cui da dal dalla de dei del della delle di dove
e è ed fare gli ha ho i il in io la le lo loro ma mi nel nella non o per perché più può quale
quando quanto quello questa questo se senza si sono su sua suo sul sulla tra tu un una uno
"""
_PORTUGUESE = """
a ao aos as até com como da das de do dos e é ela ele em entre era essa esse esta este eu fazer
foi há isso isto já mais mas me meu minha muito na nas não no nos nós o onde os ou para pela
pelo por porque posso quais qual quando que quem se sem ser seu sua são também te tem um uma
você
"""
_DUTCH = """
aan al als bij dan dat de deze die dit doe doen door dus een en er geen haar heb hebben heeft
het hier hij hoe hun ik in is je jij kan kunnen maar me meer met mijn moet na naar niet nog of
om ons onze ook op over te tegen tot uit van veel voor waar waarom wanneer was wat we welke wie
wij worden wordt ze zich zij zijn zo zonder
"""
_TURKISH = """
acaba ama bana beni benim bir biri biz bu bunu bunun çok da daha de değil diye en gibi hangi hem
her hiç için ile ise kadar ki kim mi mı mu mü nasıl ne neden nerede o olan olarak olur onu onun
sen siz şey şu ve veya ya yapılır zaman
"""
_RUSSIAN = """
а без бы был была были было в вам вас во вот все всё вы где да для до его ее её если есть еще
ещё же за и из или им их к как какая какие какой ко когда который кто ли мне можно мой мы на над
надо нам нас не него нее нет ни но ну о об он она они оно от перед по под почему при с со так
также такой там то только том тот у уже чего чем через что чтобы эта эти это этот я
"""
_ARABIC = """
أن أنا أو أي أين إذا إلى إن الذي التي به بين بعد تم ثم حتى حول ذلك على عليه عن عند غير في فيه
قبل قد كان كانت كل كم كما كيف لا لكن لم لماذا له لها لو ليس ما متى مع من منذ منه هذا هذه هل هم
هو هي هناك و يكون يمكن
"""
_HEBREW = """
אבל או אותו אותה אז אחרי אחר אי אין איך איפה אל אם אנחנו אני את אתה אתם ב בין גם האם הוא היא היה
הם הן הזה הזאת ו זה זאת זו יש כי כל כמה כן כמו ל לא לי לו לה למה לפני מ מאוד מה מי מתי עד על עם
ש של שלי
"""
# fmt: on
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_OTHERS = tuple(
    frozenset(words.split())
    for words in (
        *(_GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE),
        *(_DUTCH, _TURKISH, _RUSSIAN, _ARABIC, _HEBREW),
    )
)


def stop_words_for(words: Sequence[str]) -> frozenset[str]:
    """Return the stop words of the language that most of ``words`` suggest; English if none do.

    >>> "wie" in stop_words_for("wie hält man die tulpen frisch".split())
    True
    >>> "die" in stop_words_for("why did the dinosaurs die".split())
    False
    """
    counts = [sum(word in language for word in words) for language in _OTHERS]
    best = max(counts)
    if best <= sum(word in _ENGLISH_WORDS for word in words):
        return _ENGLISH_WORDS
    return _OTHERS[counts.index(best)]
