"""Every element by keyboard alone: each control is reached with Tab, shows that it has the focus, and lets go of it."""

import pytest
from playwright.sync_api import Page, expect

from ui_mcp.ui.elements import contracts

from . import gallery
from .conftest import Server

pytestmark = pytest.mark.slow

STOPS = """(tag) => {
  const wanted = 'button, input, select, textarea, a[href], summary, [role=button], [role=link], [tabindex="0"]';
  const all = (root) => [...root.querySelectorAll("*")].flatMap((one) =>
    [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
  // Of a group of radio buttons only the chosen one is a stop.
  const chosen = (one) => one.checked || !one.closest("[role=radiogroup], fieldset")?.querySelector(":checked");
  window.stops = [...document.querySelectorAll(tag)].flatMap((one) => all(one.shadowRoot))
    .filter((one) => one.matches(wanted) && !one.disabled && one.tabIndex >= 0)
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && (one.type !== "radio" || chosen(one)));
  window.reached = new Set();
  window.unseen = [];
  return window.stops.length;
}"""
LOOK = """(tag) => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const inside = at?.getRootNode().host?.closest(tag) != null;
  const brief = (one) => one.outerHTML.slice(0, 120);
  if (inside && window.stops.includes(at)) {
    window.reached.add(at);
    const around = [at, at.parentElement, at.closest(".box, .field, .control, label")].filter(Boolean);
    const ringed = around.map((one) => getComputedStyle(one))
      .some(({ outlineStyle, boxShadow }) => outlineStyle !== "none" || boxShadow !== "none");
    const drawn = at.matches("g") && [...at.children].some((one) => getComputedStyle(one).strokeWidth === "3px");
    if (!ringed && !drawn) window.unseen.push(brief(at));
  }
  const left = window.stops.filter((one) => !window.reached.has(one)).map(brief);
  return { inside, left, unseen: window.unseen };
}"""
OPENED = {"ui-toast": "Send"}
"""The button whose press makes the element appear."""
MANY = 60


@pytest.mark.covers("UI-ELEM-1")
@pytest.mark.parametrize("tag", sorted(set(contracts()) - {"ui-palette"}))
def test_every_control_is_reached_seen_and_left_with_tab(shelf: Server, page: Page, tag: str) -> None:
    gallery.show(shelf, page, tag)
    if tag in OPENED:
        page.get_by_role("button", name=OPENED[tag]).press("Enter")
        expect(page.locator(f"{tag} button").first).to_be_visible()
    count = page.evaluate(STOPS, tag)
    page.evaluate("() => { const title = document.querySelector('#title'); title.tabIndex = -1; title.focus(); }")
    for _ in range(count + MANY):
        page.keyboard.press("Tab")
        state = page.evaluate(LOOK, tag)
        if not state["left"] and not state["inside"]:
            break
    assert (state["left"], state["unseen"], state["inside"]) == ([], [], False)


@pytest.mark.covers("UI-ELEM-7")
@pytest.mark.parametrize(
    "area", ["ui-diff .scroll", "ui-log .lines", "ui-map svg[role=group]", "ui-markdown pre", "ui-mermaid .picture"]
)
def test_what_may_be_larger_than_its_place_is_a_stop(shelf: Server, page: Page, area: str) -> None:
    tag = area.partition(" ")[0]
    gallery.show(shelf, page, tag)
    if tag == "ui-markdown":
        page.get_by_label("Text").fill("```\n" + "wide " * 100 + "\n```")
    page.evaluate("() => { const title = document.querySelector('#title'); title.tabIndex = -1; title.focus(); }")
    for _ in range(MANY):
        page.keyboard.press("Tab")
        if page.locator(f"{area}:focus").count():
            break
    expect(page.locator(area).first).to_be_focused()
