import { expect, test } from "vitest";
import { compile, follow } from "../../src/view/template";

test("a viewdef is compiled to its elements, with the position and the meaning of each binding", () => {
  const template = compile("A.DEFAULT", '<!-- c --><template>\n<div><b data-ui-b="1 ui-value; 3 ui-class-on" ui-value="name" ui-class-on="on"></b></div>\n</template>');
  const [spec] = template.elements;
  expect(template.size).toBe(4);
  expect(template.content.childNodes).toHaveLength(1);
  expect(spec?.specs.map(({ position, attribute, argument, access }) => [position, attribute, argument, access])).toEqual([[1, "ui-value", "", "r"], [3, "ui-class-on", "on", "r"]]);
  expect(follow(template.content, spec?.path ?? []).localName).toBe("b");
  expect(template.content.querySelector("[data-ui-b]")).toBeNull();
});

test("the exemplar of a list describes its rows and is not content", () => {
  const template = compile("A.DEFAULT", '<template><ul data-ui-b="0 ui-viewlist" ui-viewlist="rows"><li class="row" style="x"></li></ul></template>');
  expect(template.elements[0]?.row).toEqual({ className: "row", style: "x", slot: "" });
  expect(template.content.querySelector("li")).toBeNull();
});

test("access can be chosen by the author", () => {
  const template = compile("A.DEFAULT", '<template><input data-ui-b="0 ui-value" ui-value="name?access=w"><input data-ui-b="1 ui-value" ui-value="name"><input data-ui-b="2 ui-value" ui-value="name()"></template>');
  expect(template.elements.map(({ specs }) => specs[0]?.access)).toEqual(["w", "rw", "r"]);
});

test("attributes that no binding knows are skipped", () => {
  expect(compile("A.DEFAULT", '<template><p data-ui-b="0 ui-unknown" ui-unknown="x"></p></template>').elements[0]?.specs).toEqual([]);
});

test("scripts and custom elements are noticed", () => {
  const template = compile("A.DEFAULT", "<template><x-a></x-a><script>1</script></template>");
  expect([template.hasScripts, [...template.tags], template.customs]).toEqual([true, ["x-a"], [[0]]]);
});
