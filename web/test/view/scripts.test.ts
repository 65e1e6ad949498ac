import { expect, test } from "vitest";
import { bindAndRun, holdScripts, runCode } from "../../src/view/scripts";

function content(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function held(html: string): Element[] {
  const fragment = content(html);
  holdScripts(fragment);
  return [...fragment.children];
}

const nothing = (): void => undefined;

test("scripts are held back until they are on the page, and run once", () => {
  const [box, second] = held(
    '<div><script type="text/x" data-a="1">first</script></div><script type="text/x" src="/b.js"></script>',
  ) as [HTMLElement, HTMLScriptElement];
  const first = box.querySelector("script");
  expect([first?.textContent, first?.dataset["a"], second.getAttribute("src")]).toEqual(["", "1", null]);

  document.body.replaceChildren(box, second);
  bindAndRun(nothing, () => [box, second]);
  expect([first?.textContent, second.getAttribute("src")]).toEqual(["first", "/b.js"]);
});

test("code runs after the scripts of its view, and at once otherwise", () => {
  const ran: string[] = [];
  const [script] = held('<script type="text/x">library</script>') as [HTMLScriptElement];
  document.body.replaceChildren(script);

  bindAndRun(
    () => runCode(() => ran.push(`after ${script.textContent}`)),
    () => [script],
  );
  runCode(() => ran.push("later"));

  expect(ran).toEqual(["after library", "later"]);
});

test("a script with src holds back what follows until it is loaded or has failed", async () => {
  const ran: string[] = [];
  const [library, inline] = held('<script src="data:,"></script><script type="text/x">uses it</script>') as [
    HTMLScriptElement,
    HTMLScriptElement,
  ];
  document.body.replaceChildren(library, inline);

  bindAndRun(
    () => runCode(() => ran.push(inline.textContent)),
    () => [library, inline],
  );
  expect([inline.textContent, ran]).toEqual(["", []]);

  library.dispatchEvent(new Event("error"));
  await expect.poll(() => ran).toEqual(["uses it"]);
});
