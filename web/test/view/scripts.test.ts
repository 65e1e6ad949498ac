import { expect, test } from "vitest";
import { holdScripts, runScripts } from "../../src/view/scripts";

function content(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

test("scripts are held back until they are on the page, and run once", () => {
  const fragment = content('<div><script type="text/x" data-a="1">first</script></div><script type="text/x" src="/b.js"></script>');
  holdScripts(fragment);
  const [box, second] = [...fragment.children] as [HTMLElement, HTMLScriptElement];
  const first = box.querySelector("script");
  expect([first?.textContent, first?.dataset["a"], second.getAttribute("src")]).toEqual(["", "1", null]);

  runScripts([box, second]);
  expect(first?.textContent).toBe("");

  document.body.replaceChildren(box, second);
  runScripts([box, second]);
  expect([first?.textContent, second.getAttribute("src")]).toEqual(["first", "/b.js"]);
});
