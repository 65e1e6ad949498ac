import { expect, test } from "vitest";
import { type FormField, formField, MAX_FILE, type ShownField } from "../../src/person/question_field";

const field = (more: Partial<FormField>): ShownField => {
  const made = formField({ name: "a", label: "What?", kind: "text", options: [], required: true, other: false, help: "", ...more }, "id");
  document.body.replaceChildren(made.element);
  return made;
};
const input = (selector: string): HTMLInputElement => {
  const found = document.querySelector<HTMLInputElement>(selector);
  if (!found) throw new Error(`no ${selector}`);
  return found;
};
const options = [
  { value: "r", label: "Red" },
  { value: "b", label: "Blue" },
];

test("a text is trimmed, and nothing is no answer", () => {
  const made = field({});
  expect(made.value()).toBeNull();
  input("textarea").value = "  a boat ";
  expect(made.value()).toBe("a boat");
  expect(document.querySelector("label")?.textContent).toBe("What?");
});

test("what is not required says so, and help is shown", () => {
  field({ required: false, help: "In metres" });
  expect(document.body.textContent).toBe("What? (optional)In metres");
});

test.each(["number", "integer"] as const)("a %s is sent as a number", (kind) => {
  const made = field({ kind });
  expect(made.value()).toBeNull();
  input("input").value = "7";
  expect(made.value()).toBe(7);
});

test("yes and no are true and false", () => {
  const made = field({ kind: "yes_no" });
  expect(made.value()).toBeNull();
  input("input[value=no]").click();
  expect(made.value()).toBe(false);
  input("input[value=yes]").click();
  expect(made.value()).toBe(true);
});

test("one choice is its value", () => {
  const made = field({ kind: "choice", options });
  expect(made.value()).toBeNull();
  input("input[value=b]").click();
  expect([made.value(), document.querySelectorAll("input").length]).toEqual(["b", 2]);
});

test("an own answer counts instead of a choice, and beside several", () => {
  const one = field({ kind: "choice", options, other: true });
  input("input[type=text]").value = "green";
  input("input[type=text]").dispatchEvent(new Event("input"));
  expect(one.value()).toBe("green");
  const many = field({ kind: "choices", options, other: true });
  input("input[value=r]").click();
  input("input[type=text]").value = "green";
  input("input[type=text]").dispatchEvent(new Event("input"));
  expect(many.value()).toEqual(["r", "green"]);
});

test("a file is sent with its name, and refused if it is too large", async () => {
  const made = field({ kind: "file" });
  expect(await made.value()).toBeNull();
  const give = (file: File): void => void Object.defineProperty(input("input"), "files", { value: [file], configurable: true });
  give(new File(["boat"], "boat.txt"));
  expect(await made.value()).toEqual({ name: "boat.txt", data: btoa("boat") });
  give(new File([new Uint8Array(MAX_FILE + 1)], "big.bin"));
  await expect(made.value()).rejects.toThrow("big.bin is too large");
});

test.each([
  [{ kind: "text", default: "a boat" }, "a boat"],
  [{ kind: "number", default: 2.5 }, 2.5],
  [{ kind: "yes_no", default: false }, false],
  [{ kind: "choice", options, default: "b" }, "b"],
  [{ kind: "choices", options, default: ["r", "b"] }, ["r", "b"]],
] as const)("a form begins with its default: %o", (more, value) => {
  expect(field(more).value()).toEqual(value);
});
