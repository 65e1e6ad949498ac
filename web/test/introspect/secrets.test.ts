import { beforeEach, expect, test } from "vitest";
import { secretsOf } from "../../src/introspect/secrets";

const element = (id: string): Element => {
  const found = document.getElementById(id);
  if (!found) throw new Error(id);
  return found;
};

beforeEach(() => {
  document.body.innerHTML = '<section id=outer><label id=label class=secret>PIN <input id=field></label><div id=card class=secret><b id=inner>4711</b></div></section><p id=other>x</p>';
});

test("a secret element is masked, with everything inside it", () => {
  const secrets = secretsOf([".secret"]);
  expect([secrets.has(element("card")), secrets.below(element("inner")), secrets.has(element("other")), secrets.below(element("other"))]).toEqual([true, true, false, false]);
  expect(secrets.kept(element("card"), { label: "4711", leaf: true }, true)).toEqual({ masked: true, leaf: true });
});

test("text that would repeat a secret is left out above it and in the label of a field", () => {
  const secrets = secretsOf([".secret"]);
  expect(secrets.around(element("outer"))).toBe(true);
  expect(secrets.kept(element("outer"), { label: "PIN 4711", leaf: true }, false)).toEqual({ leaf: false });
  expect(secrets.kept(element("field"), { label: "PIN", value: "1", leaf: true }, false)).toEqual({ value: "1", leaf: true });
  expect(secrets.kept(element("other"), { label: "x", leaf: true }, false)).toEqual({ label: "x", leaf: true });
});

test("a selector that the browser does not understand hides nothing", () => {
  const secrets = secretsOf(["::nope(", "#other"]);
  expect([secrets.has(element("other")), secrets.has(element("card"))]).toEqual([true, false]);
});

test("without selectors nothing is secret", () => {
  const secrets = secretsOf([]);
  const text = { label: "4711", leaf: true };
  expect([secrets.has(element("card")), secrets.below(element("inner")), secrets.around(element("outer")), secrets.kept(element("card"), text, false)]).toEqual([false, false, false, text]);
});
