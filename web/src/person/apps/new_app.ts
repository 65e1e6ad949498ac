/** The form for a new app: described for the agent to build, or copied from a working example. */
import { button, make } from "../../nlui/dom";
import { reasonOf } from "../client";
import type { AppsApi } from "./api";

export function newApp(api: AppsApi, done: (name: string) => void, cancel: () => void): HTMLElement {
  const name = make("input.apps-field", { required: "", maxlength: "40", placeholder: "week-plan", autocomplete: "off", spellcheck: "false", "aria-describedby": "new-app-hint" });
  const about = make("textarea.apps-field", { rows: "6", placeholder: "A board of this week’s tasks. I drag them between days and tick them off…" });
  const problem = make("p.apps-problem", { role: "alert" });
  const way = (value: string, title: string, words: string, checked: boolean): HTMLElement => {
    const input = make("input", { type: "radio", name: "way", value });
    input.checked = checked;
    return make("label.apps-way", {}, input, make("span", {}, make("b", {}, title), make("small", {}, words)));
  };
  const ways = make(
    "fieldset.apps-ways",
    {},
    make("legend", {}, "Start from"),
    way("describe", "A description", "Your agent writes the app from it.", true),
    way("template", "A working example", "A small list that you or your agent can change.", false),
  );
  const described = make("label.apps-label", {}, make("span", {}, "What should it do?"), about);
  const submit = make("button.apps-primary", { type: "submit" }, "Create");
  const form = make(
    "form.apps-form",
    { "aria-label": "New app" },
    make("h2", {}, "New app"),
    make("label.apps-label", {}, make("span", {}, "Name"), name, make("small.apps-dim", { id: "new-app-hint" }, "Lower-case letters and digits with single hyphens; it becomes the folder’s name.")),
    ways,
    described,
    problem,
    make("div.apps-row", {}, submit, button("Cancel", cancel)),
  );
  const isTemplate = (): boolean => form.querySelector<HTMLInputElement>("input[value=template]")?.checked ?? false;
  ways.addEventListener("change", () => (described.hidden = isTemplate()));
  name.addEventListener("input", () => (name.value = name.value.toLowerCase().replace(/[\s_]+/g, "-")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!isTemplate() && !about.value.trim()) {
      problem.textContent = "Say in a sentence what the app should do.";
      about.focus();
      return;
    }
    submit.disabled = true;
    api.create(name.value.trim(), about.value.trim(), isTemplate()).then(
      () => done(name.value.trim()),
      (error: unknown) => {
        submit.disabled = false;
        problem.textContent = reasonOf(error);
        name.focus();
      },
    );
  });
  queueMicrotask(() => name.focus());
  return form;
}
