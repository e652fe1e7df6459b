"""Keys: what a template can read, and defaults that can be used together."""

from topkapi.app.domain.shortcuts import ACTIONS, chosen_keys, keys_of


def test_no_action_has_the_name_of_a_method_which_a_template_would_take_for_its_key() -> None:
    assert [each.name for each in ACTIONS if hasattr(keys_of(None), each.name)] == []


def test_every_default_is_a_key_that_can_be_chosen_and_no_two_actions_share_one() -> None:
    assert chosen_keys({}) == {}
