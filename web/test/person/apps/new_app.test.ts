import { expect, test, vi } from "vitest";
import { newApp } from "../../../src/person/apps/new_app";
import { fakeApi, press, settled } from "./fake_apps";

const submit = (form: HTMLElement): boolean => form.dispatchEvent(new Event("submit"));

test("a working example needs no description, and a refusal is shown", async () => {
  const api = fakeApi();
  const done = vi.fn();
  const form = newApp(api, done, vi.fn());
  const [name] = form.querySelectorAll("input");
  const example = form.querySelector<HTMLInputElement>("input[value=template]");
  if (name && example) {
    name.value = "Week Plan";
    name.dispatchEvent(new Event("input"));
    example.checked = true;
    example.dispatchEvent(new Event("change", { bubbles: true }));
  }
  api.create.mockRejectedValueOnce(new Error("taken"));
  submit(form);
  await settled();
  const problem = form.querySelector(".apps-problem")?.textContent;
  submit(form);
  await settled();
  expect([problem, api.create.mock.lastCall, done.mock.calls]).toEqual(["taken", ["week-plan", "", true], [["week-plan"]]]);
});

test("the form can be left", () => {
  const cancel = vi.fn();
  press(newApp(fakeApi(), vi.fn(), cancel), "Cancel");
  expect(cancel).toHaveBeenCalledOnce();
});
