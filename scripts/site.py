"""mkdocs hooks: what the pages in docs/ lack as files, so that they read well on GitHub too, and the site has.

- Links to files outside docs/ become plain text, because the site contains only docs/.
- The home page begins with what to do next.
- The sections between `<!-- tabs -->` and `<!-- end of tabs -->` become tabs.
- Moving pictures become videos, which can be stopped, and which follow the theme.
- Our drawings become part of the page, so that they follow its theme.
- Pictures of the examples and the typeface come from where the product has them.
"""

import re
from pathlib import Path
from textwrap import indent
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = re.compile(
    r"\[([^\]]+)\]\((?:\.\./)+"
    r"(?:contracts|ARCHITECTURE|CONTRIBUTING|CHANGELOG|README|SECURITY|src|examples|tests|benchmarks|requirements)"
    r"(?![^)]*\.webp)[^)]*\)"
)
PREVIEW = re.compile(r"\.\./examples/([\w-]+)/preview-")
TABS = re.compile(r"<!-- tabs -->\n(.*?)<!-- end of tabs -->\n", re.DOTALL)
DRAWING = re.compile(r"!\[([^\]]*)\]\(([\w/.-]+\.svg)\)")
FILM = re.compile(r"<picture>\n(?:<source .*\n)*<img src=\"([\w/-]+)-light\.webp\" alt=\"([^\"]+)\">\n</picture>")
HOME = "index.md"
HERO = re.compile(r"^(# .+?)(?=<picture>)", re.DOTALL)
BUTTONS = """
[Connect your agent](hosts.md){ .md-button .md-button--primary }
[Build an app in ten minutes](tutorial.md){ .md-button }
[See the examples](gallery.md){ .md-button }
"""
LOST = """<h1>There is no such page</h1>
<p>It may have moved. Search at the top, or start from the <a href="/index.html">home page</a>, which lists every
guide and reference.</p>"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the typeface and the pictures of the examples."""
    [typeface] = (ROOT / "src/ui_mcp/bundle/web/look").glob("inter-latin-????????.woff2")
    added = {"assets/inter.woff2": typeface}
    for picture in ROOT.glob("examples/*/preview-*.webp"):
        added[f"images/examples/{picture.parent.name}/{picture.name}"] = picture
    for name, source in added.items():
        files.append(File.generated(config, name, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return the page as the site shows it."""
    if page.file.src_uri == HOME:
        page.meta["hide"] = ["navigation", "toc"]
        markdown = HERO.sub(lambda found: f'<div class="hero" markdown>\n\n{found[1]}{BUTTONS}\n</div>\n\n', markdown)
    text = OUTSIDE.sub(r"\1", markdown)
    text = PREVIEW.sub(r"images/examples/\1/preview-", text)
    text = TABS.sub(lambda found: tabs(found[1]), text)
    here = Path(page.file.abs_src_path or "").parent
    text = FILM.sub(lambda found: film(here, found[1], found[2]), text)
    return DRAWING.sub(lambda found: drawing(here / found[2], found[1]), text)


def on_page_content(html: str, **_: Any) -> str:
    """Make cells of empty table headings, which screen readers would announce as headings without a name."""
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the dialog of the search, which the theme leaves without a name."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Say on the page for wrong addresses how to go on; the theme's own says the number only."""
    if template_name != "404.html":
        return output_content
    return output_content.replace("<h1>404 - Not found</h1>", LOST)


def tabs(sections: str) -> str:
    """Turn sections, each with a heading of the second level, into tabs."""
    parts = re.split(r"^## (.+)\n", sections, flags=re.MULTILINE)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return "".join(f'=== "{title}"\n\n{indent(text.strip(), "    ")}\n\n' for title, text in pairs)


def film(here: Path, name: str, alternative: str) -> str:
    """Return a video in place of a moving picture; site.js chooses the file and plays it."""
    phone = f' data-phone="{name}-phone.webm"' if (here / f"{name}-phone.webm").is_file() else ""
    return (
        f'<video class="film" controls muted loop playsinline preload="none" aria-label="{alternative}"'
        f' poster="{name}-light-still.webp" data-film="{name}"{phone}>'
        f'<source src="{name}-dark.webm" type="video/webm" media="(prefers-color-scheme: dark)">'
        f'<source src="{name}-light.webm" type="video/webm">'
        f'<img src="{name}-light.webp" alt="{alternative}"></video>'
    )


def drawing(file: Path, alternative: str) -> str:
    """Return an SVG file as an element of the page, without blank lines, which would end it in Markdown."""
    svg = re.sub(r"\n\s*\n", "\n", file.read_text(encoding="utf-8")).strip()
    named = re.sub(r'aria-label="[^"]*"', "", svg, count=1).replace("<svg ", f'<svg aria-label="{alternative}" ', 1)
    return f'<div class="drawing" tabindex="0" role="group" aria-label="Drawing">{named}</div>'
