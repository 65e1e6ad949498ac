"""Pages whose scripts, not their markup, say what can be clicked: icons, listeners, animations step by step."""

from pathlib import Path

import pytest

from e2e.introspect_browser.test_hands import show
from introspection.demos import Demo
from ui_mcp.introspection.arguments import Include
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


async def shown(browser: Demo, **include: bool) -> str:
    return await as_text(browser.target, SnapshotRequest(include=Include(**include)))


def drawing(folder: Path, name: str) -> None:
    shape = '<svg xmlns="http://www.w3.org/2000/svg" width="12" height="12"><path d="M0 0h9v9"/></svg>'
    (folder / name).write_text(shape)


@pytest.mark.covers("IN-140")
async def test_words_and_icons_that_scripts_listen_to_have_lines_of_their_own(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<style>.bin { display:inline-block; width:12px; height:12px }</style>
        <p><span class=minus>-</span> <span class=plus>+</span></p><p><span>one</span> <span>word</span></p>
        <div class="icon bin"></div><p id=out></p><script>
        for (const [name, text] of [["plus", "more"], ["bin", "deleted"]])
        document.querySelector("." + name).addEventListener("click", () => { out.textContent = text; });</script>""",
    )

    text = await shown(browser)
    await browser.do({"type": "click", "target": {"text": "+", "match": "equals"}})
    (uid,) = [line.split()[1] for line in text.splitlines() if line.endswith(" .bin")]
    first = (await browser.one("#out")).record["l"]
    await browser.do({"type": "click", "target": uid})

    assert (first, (await browser.one("#out")).record["l"]) == ("more", "deleted")
    assert '"one word"' in text


@pytest.mark.covers("IN-140")
async def test_a_picture_of_a_style_sheet_is_named_by_its_file(browser: Demo, tmp_path: Path) -> None:
    for name in ("star.svg", "star-on.svg", "icons_24x24.svg"):
        drawing(tmp_path, name)
    await show(
        browser,
        tmp_path,
        """<style>#s { content:url(star.svg) } #s.on { content:url(star-on.svg) } .back { background:url(star.svg) }
        .back, .sprite { width:12px; height:12px } .sprite { background:url(icons_24x24.svg) }</style>
        <span id=s></span><div class=back tabindex=0></div><div class=sprite tabindex=0></div><img src=star.svg>
        <script>s.onclick = () => s.classList.toggle("on")</script>""",
    )

    before = await shown(browser)
    await browser.click("#s")

    assert [line.split()[-1] for line in before.splitlines()[2:]] == ['"star"', '"star"', ".sprite", '"star"']
    assert (await browser.one("#s")).record["l"] == "star-on"


@pytest.mark.covers("IN-141")
async def test_choices_colours_and_places_are_in_the_outline(browser: Demo, tmp_path: Path) -> None:
    options = "".join(f"<option>Size {number}" for number in range(15))
    await show(
        browser,
        tmp_path,
        f"""<body style="margin:0"><select id=s style="display:block;width:100px;height:20px">{options}</select>
        <svg width=200 height=100><text x=10 y=20 fill=red>7</text><text x=50 y=20 fill=black>8</text></svg>
        <div id=b><i class=block style="display:block;width:9px;height:9px"></i></div>""",
    )

    text, placed, inner = await shown(browser), await shown(browser, bounds=True), await shown(browser, internals=True)

    assert "options=[Size 0 | Size 1 | " in text
    assert " | Size 11 | +3]" in text
    assert '"7" colour=red\n' in text
    assert '"8"\n' in text
    assert "@0,0,100,20" in placed
    assert "@" not in text
    assert (".block" in text, ".block" in inner) == (False, True)


MOVED = """<style>#b { position:absolute; top:20px; left:20px; width:60px } #far { height:300px }</style>
<p id=out></p><button id=b>Hit</button><script>
b.onclick = () => { out.textContent = "hit"; };
let frames = 0;
requestAnimationFrame(function step() {
  b.style.left = `${20 + frames * 50}px`; if (++frames < 16) requestAnimationFrame(step); });
</script>"""
FADED = """<style>#pop { position:fixed; inset:0; background:#ccc }</style><p id=out></p>
<button id=b onclick="out.textContent='hit'">Under</button><div id=pop><button id=close>Close</button></div><script>
document.getElementById("close").onclick = () => { let left = 1; requestAnimationFrame(function step() {
  pop.style.opacity = left -= 0.04;
  if (left > 0) requestAnimationFrame(step); else pop.style.display = "none"; }); };</script>"""


@pytest.mark.covers("IN-121")
async def test_what_a_script_moves_is_clicked_where_it_comes_to_rest(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, MOVED)

    outcome = await browser.click("#b")

    assert outcome.error is None
    assert (await browser.one("#out")).record["l"] == "hit"


@pytest.mark.covers("IN-121")
async def test_what_a_script_fades_is_waited_for(browser: Demo, tmp_path: Path) -> None:
    await show(browser, tmp_path, FADED)

    outcome = await browser.do(
        {"type": "click", "target": await browser.uid("#close")},
        {"type": "click", "target": await browser.uid("#b")},
        await_idle=False,
    )

    assert outcome.error is None
    assert (await browser.one("#out")).record["l"] == "hit"


@pytest.mark.covers("IN-121")
async def test_a_node_that_the_pointer_changes_is_clicked_all_the_same(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<style>#b { display:inline-block; height:14px; width:14px; background:#888 }</style><p id=out></p>
        <span id=b></span>
        <script>b.addEventListener("mouseenter", () => {
          b.style.width = "0"; setTimeout(() => { b.style.width = "14px"; }, 60); }, { once: true });
        b.onclick = () => { out.textContent = "hit"; };</script>""",
    )

    outcome = await browser.click("#b")

    assert outcome.error is None
    assert (await browser.one("#out")).record["l"] == "hit"


@pytest.mark.covers("IN-61")
async def test_a_node_whose_middle_is_covered_is_clicked_where_it_shows(browser: Demo, tmp_path: Path) -> None:
    await show(
        browser,
        tmp_path,
        """<style>button { position:absolute; top:40px; width:100px; height:40px }</style><p id=out></p>
        <button id=under style="left:0" onclick="out.textContent='under'">Under</button>
        <button id=over style="left:40px" onclick="out.textContent='over'">Over</button>""",
    )

    outcome = await browser.click("#under")

    assert outcome.error is None
    assert (await browser.one("#out")).record["l"] == "under"


@pytest.mark.covers("IN-55")
async def test_several_options_are_chosen_one_after_the_other_and_a_disabled_node_is_hovered(
    browser: Demo, tmp_path: Path
) -> None:
    await show(
        browser,
        tmp_path,
        """<select id=s multiple><option>a<option>b<option>c</select><p id=out></p>
        <button id=off disabled onmouseover="out.textContent='hint'">Off</button>""",
    )
    choice = await browser.uid("#s")

    outcome = await browser.do(
        {"type": "select", "target": choice, "value": "a"},
        {"type": "select", "target": choice, "value": "c"},
        {"type": "hover", "target": await browser.uid("#off")},
    )

    assert outcome.error is None
    assert ((await browser.one("#s")).record["vt"], (await browser.one("#out")).record["l"]) == ("a, c", "hint")
