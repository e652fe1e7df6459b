"""Chinese and Japanese, which are written without spaces: words to highlight, and their parts.

Words are not looked up in a dictionary. Japanese changes its script at most words; Chinese is split
at words that say nothing about the content. What is left may be several words in one piece, so each
part of it is highlighted, too.
"""

import re

_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u309f"
_PARTICLES = "のをにはがとでもへやか"
_CHINESE_STOP_WORDS = (
    "为什么 為什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 如何 "
    "什么 什麼 哪些 哪个 哪個 多少 是否 有没有 可以"
)
_JAPANESE_STOP_WORDS = (
    "ください について どうすれば どうやって どのように できる している します ですか とは なぜ"
)
_ANY = re.compile(f"[{_HAN}{_KATAKANA}{_HIRAGANA}]")
_ONLY_HAN = re.compile(f"[{_HAN}]{{3,}}")
_PIECES = re.compile(
    f"[{_HAN}]+(?:(?![{_PARTICLES}])[{_HIRAGANA}][{_HAN}]+)*"  # 食べ物 is one word, 花の水 is not
    f"|[{_KATAKANA}]+|[{_HIRAGANA}]+|[^{_HAN}{_KATAKANA}{_HIRAGANA}]+"
)
_ONLY_HIRAGANA = re.compile(f"[{_HIRAGANA}]{{1,2}}")
_STOPS = re.compile("|".join(["[的吗嗎呢吧]", *_CHINESE_STOP_WORDS.split()]))
_PART_LENGTHS = (4, 3, 2)


def words_in(text: str) -> list[str]:
    """Return the words of ``text``, itself if it is not Chinese or Japanese.

    >>> words_in("如何保持郁金香直立"), words_in("iPhone15の使い方"), words_in("tulips")
    (['保持郁金香直立'], ['iPhone15', '使い方'], ['tulips'])
    """
    if not _ANY.search(text):
        return [text]
    pieces = [part for piece in _PIECES.findall(text) for part in _STOPS.split(piece)]
    return [piece for piece in pieces if piece and not _says_nothing(piece)] or [text]


def _says_nothing(piece: str) -> bool:
    return bool(_ONLY_HIRAGANA.fullmatch(piece)) or piece in _JAPANESE_STOP_WORDS.split()


def parts_of(term: str) -> list[str]:
    """Return what is highlighted for a term: itself, and the parts of several Han characters.

    >>> parts_of("郁金香"), parts_of("tulips")
    (['郁金香', '郁金', '金香'], ['tulips'])
    """
    if not _ONLY_HAN.fullmatch(term):
        return [term]
    parts = [
        term[start : start + length]
        for length in _PART_LENGTHS
        for start in range(len(term) - length + 1)
    ]
    return list(dict.fromkeys([term, *parts]))
