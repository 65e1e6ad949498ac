"""The plan: what happens to a file, decided from three digests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.ui.base_dir.install_plan import Action, Facts, action, should_install
from ui_mcp.version import Version

OLD, NEW, USER = "old", "new", "user"
digests = st.sampled_from([OLD, NEW, USER])


@pytest.mark.covers("UI-INST-3")
@pytest.mark.parametrize(
    ("facts", "upgrade", "force", "expected"),
    [
        (Facts(NEW, None, None), False, False, Action.WRITE),
        (Facts(NEW, NEW, None), True, False, Action.KEEP),
        (Facts(NEW, OLD, OLD), True, False, Action.WRITE),
        (Facts(NEW, USER, OLD), True, False, Action.MERGE),
        (Facts(NEW, USER, None), True, False, Action.MERGE),
        (Facts(NEW, USER, NEW), True, False, Action.KEEP),
        (Facts(NEW, USER, None), False, False, Action.KEEP),
        (Facts(NEW, USER, OLD), True, True, Action.BACKUP),
        (Facts(NEW, USER, None), False, True, Action.BACKUP),
        (Facts(NEW, OLD, OLD), False, True, Action.WRITE),
    ],
)
def test_each_case_has_its_action(facts: Facts, upgrade: bool, force: bool, expected: Action) -> None:
    assert action(facts, upgrade=upgrade, force=force) is expected


@given(bundled=digests, present=digests, recorded=st.none() | digests, upgrade=st.booleans(), force=st.booleans())
def test_a_text_of_the_user_is_never_replaced_without_a_backup(
    bundled: str, present: str, recorded: str | None, upgrade: bool, force: bool
) -> None:
    chosen = action(Facts(bundled, present, recorded), upgrade=upgrade, force=force)

    if chosen is Action.WRITE:
        assert present in {recorded, bundled}
    if chosen is Action.BACKUP:
        assert force


@pytest.mark.covers("UI-INST-2")
def test_an_install_is_wanted_when_it_is_first_newer_or_forced() -> None:
    nine, ten = Version((0, 9, 0)), Version((0, 10, 0))

    assert should_install(nine, None, force=False)
    assert should_install(ten, nine, force=False)
    assert should_install(nine, ten, force=True)
    assert not should_install(nine, nine, force=False)
    assert not should_install(nine, ten, force=False)
    assert not should_install(None, nine, force=False)
