/** The dialog for one conversation: its model, instructions, temperature, reasoning and budget. */
import type { Prompts } from "../chat/prompts";
import { api, type ConversationSettings, type ModelOffer } from "./api";
import { field, form, submitButton } from "./dialog";
import { make } from "./dom";

const EFFORTS: readonly (readonly [string, string])[] = [
  ["", "As configured"],
  ["low", "Low"],
  ["medium", "Medium"],
  ["high", "High"],
];
const OTHER = "other";

/** Open the dialog; `changed` is called when it was saved. */
export async function conversationSettings(id: string, prompts: Prompts, changed: (settings: ConversationSettings) => void): Promise<void> {
  const [now, model] = await Promise.all([api.settings(id), api.model()]);
  const choice = modelChoice(now, model.provider === "scripted" ? "Scripted demo" : model.model);
  const instructions = make("textarea.nlui-field", { rows: "5", maxlength: "50000", placeholder: "Answer in French. Use metric units." });
  instructions.value = now.instructions ?? "";
  const library = make("select.nlui-field", {}, make("option", { value: "" }, "none"));
  const temperature = numberField(now.temperature, { min: "0", max: "2", step: "0.1", placeholder: "default" });
  const reasoning = make("select.nlui-field", {}, ...EFFORTS.map(([value, name]) => make("option", { value }, name)));
  reasoning.value = now.reasoning ?? "";
  const tokens = numberField(now.max_tokens, { min: "1", step: "1", placeholder: "no limit" });
  const cost = numberField(now.max_cost, { min: "0.01", step: "0.01", placeholder: "no limit" });
  const pair = (...fields: readonly HTMLElement[]): HTMLElement => make("div.nlui-pair", {}, ...fields);
  const shown = form(
    "This conversation",
    [
      field("Model", choice.select),
      choice.name,
      field("Instructions", instructions, "The model is told this besides its own instructions."),
      field("Instructions from the prompt library", library),
      pair(field("Temperature", temperature), field("Reasoning", reasoning)),
      pair(field("Most tokens", tokens), field("Highest cost", cost, "Needs llm.prices in nlui.yaml.")),
    ],
    [submitButton("Save")],
    () => {
      const wanted: ConversationSettings = {
        ...choice.chosen(),
        ...(instructions.value.trim() ? { instructions: instructions.value.trim() } : {}),
        ...(temperature.value ? { temperature: Number(temperature.value) } : {}),
        ...(reasoning.value ? { reasoning: reasoning.value } : {}),
        ...(tokens.value ? { max_tokens: Number(tokens.value) } : {}),
        ...(cost.value ? { max_cost: Number(cost.value) } : {}),
      };
      api.changeSettings(id, wanted).then((saved) => {
        changed(saved);
        shown.close();
      }, shown.fail);
    },
  );
  library.addEventListener("change", () => {
    if (library.value) {
      instructions.value = library.value;
    }
  });
  void prompts.list().then((known) => library.append(...known.map(({ name, text }) => make("option", { value: text }, name))), () => undefined);
  void api.offers().then(choice.offer, () => undefined);
}

/** Say in a few words what differs from the defaults. */
export function settingsText({ model, instructions, temperature, max_tokens: tokens, max_cost: cost }: ConversationSettings): string {
  return [model?.model, instructions ? "own instructions" : "", temperature === undefined ? "" : `temperature ${String(temperature)}`, tokens || cost ? "budget" : ""].filter(Boolean).join(" · ");
}

interface Choice {
  readonly select: HTMLSelectElement;
  /** The name of a model that is not in the list. */
  readonly name: HTMLElement;
  readonly offer: (offers: readonly ModelOffer[]) => void;
  chosen(): Pick<ConversationSettings, "model">;
}

function modelChoice({ model }: ConversationSettings, configured: string): Choice {
  const select = make("select.nlui-field", {}, make("option", { value: "" }, `Configured: ${configured}`));
  const typed = make("input.nlui-field", { autocomplete: "off", maxlength: "200" });
  const name = field("Name of the model", typed, "At the configured server.");
  const other = make("option", { value: OTHER }, "Another model…");
  const add = (wanted: NonNullable<ConversationSettings["model"]>, group: HTMLElement = select): void => {
    group.append(make("option", { value: JSON.stringify(wanted) }, wanted.model ?? ""));
  };
  const look = (): void => {
    name.hidden = select.value !== OTHER;
  };
  select.append(other);
  if (model?.model) {
    add(model);
    select.value = JSON.stringify(model);
  }
  select.addEventListener("change", look);
  look();
  return {
    select,
    name,
    offer(offers) {
      const before = select.value;
      for (const { name: title, models, ...server } of offers) {
        const group = make("optgroup", { label: title });
        models.filter((one) => JSON.stringify({ model: one, ...server }) !== before).forEach((one) => add({ model: one, ...server }, group));
        if (group.childElementCount > 0) {
          select.append(group);
        }
      }
      select.append(other);
      select.value = before;
    },
    chosen() {
      if (select.value === OTHER) {
        return typed.value.trim() ? { model: { model: typed.value.trim() } } : {};
      }
      return select.value ? { model: JSON.parse(select.value) as NonNullable<ConversationSettings["model"]> } : {};
    },
  };
}

function numberField(value: number | undefined, attributes: Readonly<Record<string, string>>): HTMLInputElement {
  const made = make("input.nlui-field", { type: "number", inputmode: "decimal", ...attributes });
  made.value = value === undefined ? "" : String(value);
  return made;
}
