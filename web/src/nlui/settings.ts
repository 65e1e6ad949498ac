/** The dialog for the model: provider, address, name and key, with a test before saving. */
import { api, type ModelSettings, type Provider } from "./api";
import { field, form, submitButton } from "./dialog";
import { button, make } from "./dom";

export async function modelSettings(changed: (settings: ModelSettings) => void): Promise<void> {
  const [settings, providers] = await Promise.all([api.model(), api.providers()]);
  const vendor = make("select.nlui-field", {}, ...providers.map(option));
  const base = make("input.nlui-field", { type: "url", placeholder: "https://api.openai.com/v1" });
  const names = make("datalist", { id: "nlui-models" });
  const model = make("input.nlui-field", { list: "nlui-models", autocomplete: "off" });
  const variable = make("input.nlui-field", { placeholder: "OPENAI_API_KEY", autocomplete: "off", spellcheck: "false" });
  const key = make("input.nlui-field", { type: "password", autocomplete: "off", placeholder: settings.has_key ? `kept: ${settings.api_key}` : "" });
  const details = make(
    "div.nlui-fields",
    {},
    field("Address", base),
    field("Model", model),
    names,
    field("Key from the environment variable", variable, "The file contains only the variable’s name."),
    field("or the key itself", key, settings.file ? "Stored in a file that only you can read; shown masked." : "Without an nlui.yaml it is kept until nlui exits."),
  );
  const chosen = (): Provider | undefined => providers[vendor.selectedIndex];
  const given = (): Record<string, unknown> => ({
    provider: chosen()?.id,
    ...(chosen()?.id === "scripted" ? {} : { api_base: base.value.trim(), model: model.value.trim() }),
    ...(variable.value.trim() ? { api_key_env: variable.value.trim() } : {}),
    ...(key.value ? { api_key: key.value } : {}),
  });
  const pick = (): void => {
    const provider = chosen();
    base.value = provider?.api_base ?? "";
    variable.placeholder = provider?.key || "not needed";
    details.hidden = provider?.id === "scripted";
    if (provider?.models && !provider.models.includes(model.value)) {
      model.value = provider.models[0] ?? "";
    }
    void suggest();
  };
  const suggest = async (): Promise<void> => {
    names.replaceChildren(...(chosen()?.models ?? []).map((name) => make("option", { value: name })));
    if (key.value || variable.value) {
      const found = await api.models(given()).catch(() => ({ models: [] }));
      names.replaceChildren(...found.models.map((name) => make("option", { value: name })));
    }
  };
  const unset = settings.provider === "scripted" ? providers.findIndex((one) => one.running) : -1;
  const known = unset >= 0 ? unset : providers.findIndex((one) => one.id === settings.provider && (one.api_base === settings.api_base || one.id === "scripted"));
  vendor.selectedIndex = Math.max(0, known >= 0 ? known : providers.findIndex((one) => one.id === settings.provider));
  pick();
  base.value = settings.api_base || base.value;
  model.value = settings.model || (chosen()?.models?.[0] ?? "");
  vendor.addEventListener("change", pick);

  const test = button("Test the connection", () => {
    test.disabled = true;
    shown.say("Testing…", true);
    api
      .testModel(given())
      .then((answer) => shown.say(answer.ok ? `Answered in ${answer.ms ?? 0} ms.` : (answer.error ?? "No answer."), answer.ok))
      .catch((error: unknown) => shown.fail(error))
      .finally(() => {
        test.disabled = false;
      });
  });
  const shown = form("Model", [field("Vendor", vendor), details], [test, submitButton("Save")], () => {
    api.changeModel(given()).then(
      (now) => {
        changed(now);
        shown.close();
      },
      (error: unknown) => shown.fail(error),
    );
  });
}

function option(provider: Provider): HTMLOptionElement {
  const running = provider.running === undefined ? "" : provider.running ? " (running here)" : " (not running)";
  return make("option", {}, provider.name + running);
}
