import pytest

from tests.cases import each_case
from topkapi.app.domain.errors import Invalid
from topkapi.app.installation.demo_accounts import DEMO_PASSWORD
from topkapi.app.services.accounts.passwords import check_password

ABOUT = ("ansa.lehto@kirjasto.example", "Ansa Lehto")


@each_case(
    "password",
    [
        *(
            "password12",
            "Password123!",
            "P@ssw0rd123",
            "passwordpassword",
            "PASSWORD2026",
            "admin12345",
        ),
        *("1234567890", "0987654321", "qwertyuiop", "1q2w3e4r5t", "abcdefghijkl", "asdfghjkl;"),
        *(
            "aaaaaaaaaaaa",
            "ababababab",
            "..........!!",
            "letmein12345",
            "iloveyou2024!",
            "Summer2024!!",
        ),
        *("topkapi2026", "Monkey.Dragon.1", "ｐａｓｓｗｏｒｄ１２", "lehto-ansa-1", "kirjasto123"),
    ],
)
def test_what_is_guessed_first_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match=r"too easy to guess.*Use a few words") as refusal:
        check_password(password, ABOUT)
    assert refusal.value.field == "password"


@each_case(
    "password",
    [
        *("ansa.lehto@kirjasto.example", "Ansa.Lehto@Kirjasto.example", "ansalehto-and-tulips"),
        *("AnsaLehto1999", "I am Ansa Lehto, really"),
    ],
)
def test_ones_own_name_and_address_are_refused(password: str) -> None:
    with pytest.raises(Invalid, match="Leave your name and your e-mail address out"):
        check_password(password, ABOUT)


@each_case(
    "password",
    [
        *("correct-horse-battery", "a long enough password", "my sister loves purple butterflies"),
        *(
            "8302749163",
            "xK9#mQ2$vL",
            "kaffee und kuchen",
            "不知道的很长的密码一二三",
            DEMO_PASSWORD,
        ),
    ],
)
def test_others_are_accepted(password: str) -> None:
    check_password(password, ABOUT)


@pytest.mark.parametrize("about", [("a@b.example", "A"), ("li@x.example", "Li Bo"), ("", "")])
def test_a_short_name_forbids_nothing(about: tuple[str, str]) -> None:
    check_password("a long enough password", about)


@pytest.mark.parametrize(("length", "message"), [(9, "at least 10"), (1001, "at most 1000")])
def test_length_is_bounded(length: int, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check_password("x" * length)
