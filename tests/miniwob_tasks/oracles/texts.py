"""Reading, copying and formatting text."""

import re

from miniwob_tasks.hands import Ui, click, fill, press
from miniwob_tasks.oracles import solves


@solves("copy-paste")
def copy(ui: Ui) -> None:
    page = ui.look()
    source, field = page.one("textarea"), page.id("answer-input")
    ui.do(
        click(source), press("A", "CTRL"), press("C", "CTRL"), click(field), press("V", "CTRL"),
        click(page.one("button", "Submit")),
    )  # fmt: skip


@solves("copy-paste-2")
def copy_one(ui: Ui) -> None:
    page = ui.look()
    source = page.all("textarea")[int(re.findall(r"the (\d)", page.goal)[0]) - 1]
    ui.do(
        click(source), press("A", "CTRL"), press("C", "CTRL"), click(page.id("answer-input")), press("V", "CTRL"),
        click(page.one("button", "Submit")),
    )  # fmt: skip


@solves("find-word")
def find_word(ui: Ui) -> None:
    page = ui.look()
    number = int(re.findall(r"the (\d+)", page.goal)[0])
    word = re.sub(r"[.,]", "", page.one("p").text.split()[number - 1])
    ui.do(fill(page.id("answer-input"), word), click(page.one("button", "Submit")))


@solves("scroll-text")
def last_word(ui: Ui) -> None:
    page = ui.look()
    text = ui.node(page.one("textarea"))["value"]["text"]
    ui.do(fill(page.id("answer-input"), re.sub(r"[.,]", "", text.split()[-1])), click(page.one("button", "Submit")))


BUTTONS = {"bold": "ql-bold", "italics": "ql-italic", "underlined": "ql-underline"}


@solves("text-editor")
def format_text(ui: Ui) -> None:
    page = ui.look()
    editor = next(line for line in page.lines if line.style == "ql-editor")
    text = editor.value
    words = re.findall(r"give the text (.*?) the (?:style|color)", page.goal)
    start, length = (0, len(text)) if not words else (text.index(words[0]), len(words[0]))
    chosen = [click(editor), press("HOME", "CTRL"), *[press("RIGHT")] * start, *[press("RIGHT", "SHIFT")] * length]
    style = re.findall("bold|italics|underlined", page.goal)
    if style:
        button = next(line for line in page.lines if line.style == BUTTONS[style[0]])
        ui.do(*chosen, click(button), click(page.one("button", "Submit")))
        return
    colour = re.findall(r"color (\w+)", page.goal)[0]
    opener = next(line for line in page.lines if line.style == "ql-picker-label")
    opened = ui.do(*chosen, click(opener), see="diff")
    swatch = next(line for line in opened.lines if COLOURS[colour] in line.text.replace(" ", ""))
    ui.do(click(swatch), click(page.one("button", "Submit")))


COLOURS = {
    "red": "rgb(230,0,0)", "orange": "rgb(255,153,0)", "yellow": "rgb(255,255,0)", "green": "rgb(0,138,0)",
    "blue": "rgb(0,102,204)", "purple": "rgb(153,51,255)",
}  # fmt: skip
