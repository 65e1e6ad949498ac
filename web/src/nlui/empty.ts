/** What a conversation without messages shows: what the page is for, and requests to click. */
import { api, type Source } from "./api";
import { button, make } from "./dom";
import { sourceOf, toolTitle } from "./tool_names";

export interface EmptyState {
  readonly element: HTMLElement;
  /** Offer requests that fit the tools at hand. */
  offer(): Promise<void>;
}

const DEMO = ["Show the orders", "Ship order 1"];
const ANY = "What can you do?";
/** Tools whose names begin like this only read, so a click on them does no harm. */
const READS = /__(list|get|search|find|show|read)(?=_|\p{Lu}|$)/u;
const MOST = 3;

export function emptyState(ask: (text: string) => void): EmptyState {
  const what = make("p", {}, "The assistant uses the tools of your APIs and servers. You approve calls that change something.");
  const suggestions = make("div.nlui-suggestions", { role: "group", "aria-label": "Suggestions" });
  return {
    element: make("div.nlui-empty", {}, make("h2", {}, "Ask for something"), what, suggestions),
    async offer() {
      const [model, sources] = await Promise.all([api.model(), api.sources()]).catch(() => [null, []] as const);
      const demo = model?.provider === "scripted";
      if (demo) {
        what.textContent = "This demo runs on a small coffee shop, without a model or a key. You approve calls that change something.";
      }
      suggestions.replaceChildren(...(demo ? DEMO : requests(sources)).map((text) => button(text, () => ask(text))));
    },
  };
}

/** Requests made from the names of the first tools that read something. */
export function requests(sources: readonly Source[]): readonly string[] {
  const reading = sources.flatMap(({ tools }) => tools).filter((name) => READS.test(name));
  return [ANY, ...reading.slice(0, MOST).map((name) => `${toolTitle(name)} of ${sourceOf(name)}`)];
}
