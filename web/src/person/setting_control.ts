/** The control by which one setting is changed: a switch, a choice, a number, a text or a list of texts. */
import { make } from "../nlui/dom";
import type { Setting } from "./settings";

export function control(setting: Setting, id: string, now: unknown, save: (value: unknown) => void): HTMLElement {
  switch (setting.kind) {
    case "switch": {
      const made = make("input.set-switch", { type: "checkbox", role: "switch", id });
      made.checked = now === true;
      made.addEventListener("change", () => save(made.checked));
      return made;
    }
    case "choice": {
      const made = make("select.set-field", { id }, ...setting.choices.map((one) => make("option", {}, one)));
      made.value = now as string;
      made.addEventListener("change", () => save(made.value));
      return made;
    }
    case "list": {
      const lines = Array.isArray(now) ? now.map(String) : [];
      const made = make("textarea.set-field", { id, rows: String(Math.max(lines.length, 1)), placeholder: "one per line", spellcheck: "false" });
      made.value = lines.join("\n");
      made.addEventListener("change", () => save(made.value.split("\n").map((line) => line.trim()).filter(Boolean)));
      return made;
    }
    default: {
      const isNumber = setting.kind === "number";
      const made = make("input.set-field", { id, type: isNumber ? "number" : "text", placeholder: "not set", spellcheck: "false", ...(isNumber ? { step: "any" } : {}) });
      made.value = now === null || now === undefined ? "" : `${now as string | number}`;
      made.addEventListener("change", () => save(made.value === "" ? null : isNumber ? Number(made.value) : made.value));
      return made;
    }
  }
}
