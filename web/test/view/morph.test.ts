import { describe, expect, test } from "vitest";
import { morph } from "../../src/view/morph";
import { element, openApp, viewdefsMessage } from "./open_app";

function nodes(html: string): Node[] {
  const template = document.createElement("template");
  template.innerHTML = html;
  return [...template.content.childNodes];
}

function change(before: string, after: string): Element {
  document.body.innerHTML = `<main>${before}</main>`;
  const main = element("main");
  const marks = new Map([...main.querySelectorAll("*")].map((node) => [node, node.localName]));
  morph([...main.childNodes], nodes(after));
  for (const node of main.querySelectorAll("*")) {
    node.toggleAttribute("same", marks.has(node));
  }
  return main;
}

describe("morphing", () => {
  test("keeps elements with the same bindings and changes what differs", () => {
    const main = change('<p class="a">old</p><input ui-value="name">', '<h1>New</h1><p class="b">new</p><input ui-value="name" required="">');
    expect(main.innerHTML).toBe('<h1>New</h1><p class="b" same="">new</p><input ui-value="name" required="" same="">');
  });

  test("never turns a field into one with another binding while the right one is there", () => {
    const main = change('<input ui-value="a"><input ui-value="b">', '<input ui-value="b"><input ui-value="c">');
    expect([...main.children].map((field) => [field.getAttribute("ui-value"), field.hasAttribute("same")])).toEqual([["b", true], ["c", true]]);
  });

  test("does not reuse an element with another authored id, or a field of another type", () => {
    const main = change('<p id="x"></p><input type="text">', '<p id="y"></p><input type="checkbox">');
    expect([...main.children].some((child) => child.hasAttribute("same"))).toBe(false);
  });

  test("leaves content alone that a binding writes", () => {
    const main = change('<b ui-value="name">Ann</b>', '<b ui-value="name">placeholder</b>');
    expect(main.textContent).toBe("Ann");
  });

  test("leaves an open <details> open", () => {
    expect(change("<details open=''><summary>a</summary></details>", "<details><summary>b</summary></details>").innerHTML).toContain("open");
  });

  test("moves other elements around the one with the focus", () => {
    document.body.innerHTML = '<main><p id="a">a</p><input ui-value="x"></main>';
    const main = element("main");
    const field = element("input");
    field.focus();
    let blurred = false;
    field.addEventListener("blur", () => (blurred = true));
    morph([...main.childNodes], nodes('<input ui-value="x"><p id="a">a</p>'));
    expect([...main.children].map((child) => child.localName)).toEqual(["input", "p"]);
    expect([document.activeElement === field, blurred]).toEqual([true, false]);
  });

  test("is done in order where there are too many nodes to compare all", () => {
    const many = (text: string): string => Array.from({ length: 150 }, (_, at) => `<p class="${text}${at}">${text}</p>`).join("");
    const main = change(`<i></i>${many("a")}<b></b>`, `<u></u>${many("b")}<s></s>`);
    expect(main.querySelectorAll("p[same]")).toHaveLength(150);
    expect(main.children).toHaveLength(152);
  });

  test("of nodes that are on no page changes nothing", () => {
    expect(morph([document.createElement("p")], nodes("<p></p>")).size).toBe(0);
  });
});

describe("a changed viewdef", () => {
  const before = '<template><section><input id="n" data-ui-b="0 ui-value" ui-value="name"></section></template>';
  const after = '<template><section><h1>Hello</h1><input id="n" data-ui-b="0 ui-value" ui-value="name"></section></template>';

  test("keeps the focus and text that was not sent yet", () => {
    const { say, show } = openApp({ "A.DEFAULT": before });
    show(1, "A.DEFAULT", ["Ann"]);
    const field = element("input", HTMLInputElement);
    field.focus();
    field.value = "Anna";
    say(viewdefsMessage({ "A.DEFAULT": after }));
    show(2, "A.DEFAULT", ["Ann"]);
    expect([element("h1").textContent, element("input") === field, document.activeElement === field, field.value]).toEqual(["Hello", true, true, "Anna"]);
  });

  test("hands text and focus to the successor when the element itself has to go", () => {
    const { say, show } = openApp({ "A.DEFAULT": before });
    show(1, "A.DEFAULT", ["Ann"]);
    const field = element("input", HTMLInputElement);
    field.focus();
    field.value = "Anna";
    say(viewdefsMessage({ "A.DEFAULT": after.replaceAll("section", "article") }));
    show(2, "A.DEFAULT", ["Ann"]);
    const now = element("input", HTMLInputElement);
    expect([now === field, document.activeElement === now, now.value]).toEqual([false, true, "Anna"]);
  });

  test("keeps scroll positions", () => {
    const { say, show } = openApp({ "A.DEFAULT": before });
    show(1, "A.DEFAULT", ["Ann"]);
    element("section").scrollTop = 40;
    say(viewdefsMessage({ "A.DEFAULT": after }));
    show(2, "A.DEFAULT", ["Ann"]);
    expect(element("section").scrollTop).toBe(40);
  });

  test("touches only those attributes of a custom element that its author changed", () => {
    const html = (variant: string): string => `<template><x-panel variant="${variant}" label="a"></x-panel></template>`;
    const { say, show } = openApp({ "A.DEFAULT": html("plain") });
    show(1, "A.DEFAULT", []);
    const panel = element("x-panel");
    panel.setAttribute("open", ""); // reflected by the element itself
    panel.setAttribute("label", "typed");
    say(viewdefsMessage({ "A.DEFAULT": html("bold") }));
    show(2, "A.DEFAULT", []);
    expect([element("x-panel") === panel, panel.getAttribute("variant"), panel.hasAttribute("open"), panel.getAttribute("label")]).toEqual([true, "bold", true, "typed"]);
  });
});
