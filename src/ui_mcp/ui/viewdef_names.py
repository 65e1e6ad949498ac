"""Finds tags, attributes and icons in viewdefs that do not exist, and the name that was probably meant."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from ui_mcp.ui.viewdef_compiler import kind_of, split_path
from ui_mcp.workspace import BUNDLE

PACKED_ICONS = BUNDLE / "web" / "vendor" / "shoelace" / "icons.tsv"

SHOELACE = frozenset(
    f"sl-{name}"
    for name in [
        "alert",
        "animated-image",
        "animation",
        "avatar",
        "badge",
        "breadcrumb",
        "breadcrumb-item",
        "button",
        "button-group",
        "card",
        "carousel",
        "carousel-item",
        "checkbox",
        "color-picker",
        "copy-button",
        "details",
        "dialog",
        "divider",
        "drawer",
        "dropdown",
        "format-bytes",
        "format-date",
        "format-number",
        "icon",
        "icon-button",
        "image-comparer",
        "include",
        "input",
        "menu",
        "menu-item",
        "menu-label",
        "mutation-observer",
        "option",
        "popup",
        "progress-bar",
        "progress-ring",
        "qr-code",
        "radio",
        "radio-button",
        "radio-group",
        "range",
        "rating",
        "relative-time",
        "resize-observer",
        "select",
        "skeleton",
        "spinner",
        "split-panel",
        "switch",
        "tab",
        "tab-group",
        "tab-panel",
        "tag",
        "textarea",
        "tooltip",
        "tree",
        "tree-item",
        "visually-hidden",
    ]
)

HTML = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "address",
        "area",
        "article",
        "aside",
        "audio",
        "b",
        "base",
        "bdi",
        "bdo",
        "big",
        "blockquote",
        "body",
        "br",
        "button",
        "canvas",
        "caption",
        "center",
        "cite",
        "code",
        "col",
        "colgroup",
        "data",
        "datalist",
        "dd",
        "del",
        "details",
        "dfn",
        "dialog",
        "div",
        "dl",
        "dt",
        "em",
        "embed",
        "fieldset",
        "figcaption",
        "figure",
        "font",
        "footer",
        "form",
        "frame",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "hr",
        "html",
        "i",
        "iframe",
        "img",
        "input",
        "ins",
        "kbd",
        "label",
        "legend",
        "li",
        "link",
        "main",
        "map",
        "mark",
        "marquee",
        "math",
        "menu",
        "meta",
        "meter",
        "nav",
        "nobr",
        "noscript",
        "object",
        "ol",
        "optgroup",
        "option",
        "output",
        "p",
        "param",
        "picture",
        "pre",
        "progress",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "script",
        "search",
        "section",
        "select",
        "slot",
        "small",
        "source",
        "span",
        "strike",
        "strong",
        "style",
        "sub",
        "summary",
        "sup",
        "svg",
        "table",
        "tbody",
        "td",
        "template",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "track",
        "tt",
        "u",
        "ul",
        "var",
        "video",
        "wbr",
    ]
)

_FOREIGN = frozenset({"svg", "math"})
_ATTRIBUTES = frozenset(
    [
        "ui-value",
        "ui-html",
        "ui-code",
        "ui-action",
        "ui-view",
        "ui-viewlist",
        "ui-for",
        "ui-if",
        "ui-namespace",
        "ui-item-wrapper",
        "ui-app",
        "ui-viewdef",
    ]
)
_OPTIONS = frozenset(
    [
        "keypress",
        "access",
        "wrapper",
        "itemWrapper",
        "create",
        "priority",
        "scrollOnOutput",
        "replace",
        "window",
        "decimals",
        "unit",
    ]
)
_HIDING = frozenset({"ui-class", "ui-hidden", "ui-show", "ui-visible"})
_NAMED_ICONS = frozenset({"sl-icon", "sl-icon-button"})
_SCRIPTED = ("customElements.define",)
"""Text of templates that make elements of their own."""


@dataclass(frozen=True, slots=True, order=True)
class UnknownName:
    """A name that does not exist: `kind` is `tag`, `attribute`, `option` or `icon`."""

    line: int
    kind: str
    shown: str
    """The part of the template, as its author wrote it."""
    hint: str

    @property
    def hides(self) -> bool:
        """Whether it is an attribute by which other frameworks hide elements."""
        return self.kind == "attribute" and self.shown.partition("=")[0] in _HIDING

    @property
    def text(self) -> str:
        return f"there is no {self.kind} {self.shown}"


def unknown_names(html: str, own_icons: Path | None = None) -> list[UnknownName]:
    """Return the unknown names of a template in their order; `own_icons` is the project's folder of icons."""
    reader = _Names(html, own_icons)
    return reader.found


@cache
def icon_names(packed: Path = PACKED_ICONS) -> frozenset[str]:
    """Return the names of the bundled icons; empty where they are not built."""
    if not packed.is_file():
        return frozenset()
    with packed.open(encoding="utf-8") as lines:
        return frozenset(name for name in (line.partition("\t")[0].strip() for line in lines) if name)


def meant(name: str, known: Collection[str], *, otherwise: str = "") -> str:
    """Return "did you mean" with the closest known name."""
    close = get_close_matches(name, known, n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else otherwise


class _Names(HTMLParser):
    def __init__(self, html: str, own_icons: Path | None) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[UnknownName] = []
        self._own_icons = own_icons
        self._foreign = 0
        self._scripted = any(text in html for text in _SCRIPTED)
        try:
            self.feed(html)
            self.close()
        except AssertionError:
            return  # the compiler reports malformed declarations

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _FOREIGN:
            self._foreign += 1
        elif not self._foreign:
            self._check(tag, {name: value or "" for name, value in attrs})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._foreign and tag not in _FOREIGN:
            self._check(tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        if tag in _FOREIGN and self._foreign:
            self._foreign -= 1

    def _check(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.getpos()[0]
        self.found += [UnknownName(line, kind, shown, hint) for kind, shown, hint in self._problems(tag, attributes)]

    def _problems(self, tag: str, attributes: dict[str, str]) -> Iterator[tuple[str, str, str]]:
        known = SHOELACE if tag.startswith("sl-") else HTML
        if tag not in known and ("-" not in tag or (tag.startswith("sl-") and not self._scripted)):
            yield "tag", f"<{tag}>", meant(tag, known)
        for name, value in attributes.items():
            if name.startswith("ui-") and name not in _ATTRIBUTES and kind_of(name) is None:
                yield "attribute", f'{name}="{value}"', _meant_attribute(name)
            elif name.startswith("ui-"):
                yield from _misspelled(value)
        icon = attributes.get("name", "")
        named = (
            tag in _NAMED_ICONS
            and icon
            and not {"library", "src", "ui-attr-library", "ui-attr-src"} & attributes.keys()
        )
        if named and "ui-attr-name" not in attributes and not self._is_icon(icon):
            yield (
                "icon",
                f'"{icon}"',
                meant(icon, icon_names(), otherwise="see https://icons.getbootstrap.com for the names"),
            )

    def _is_icon(self, name: str) -> bool:
        own = self._own_icons is not None and (self._own_icons / f"{name}.svg").is_file()
        return own or not icon_names() or name in icon_names()


def _misspelled(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield options that are almost known; wrappers may read any others."""
    for option in split_path(path)[1].split("&"):
        name = option.partition("=")[0].strip()
        hint = "" if name in _OPTIONS else meant(name, _OPTIONS)
        if hint:
            yield "option", f'?{name} in "{path}"', hint


def _meant_attribute(name: str) -> str:
    if name in _HIDING:
        return 'hide with ui-class-hidden="path", or use ui-if="path"'
    return meant(name, [*_ATTRIBUTES, "ui-attr-…", "ui-class-…", "ui-style-…", "ui-event-…"])
