/**
 * The views of the page. On wide screens one main view (the app, all apps, settings) stands beside one view of the
 * panel; on narrow ones a single view is shown, and the tabs name them all.
 */
import { make } from "../nlui/dom";

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly panel: HTMLElement;
  /** Whether it takes the place of the app instead of one in the panel. */
  readonly main?: boolean;
  /** Whether it is chosen elsewhere, and needs no tab. */
  readonly untabbed?: boolean;
}

export interface Tabs {
  readonly element: HTMLElement;
  choose(id: string): void;
  /** The view that was chosen last. */
  chosen(): string;
  /** Show a number on a tab; 0 hides it. */
  count(id: string, number: number): void;
  isNarrow(): boolean;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** `changed` gets the main view and the one of the panel, which are the same on narrow screens. */
export function tabs(views: readonly Tab[], first: string, changed: (main: string, side: string) => void = () => undefined): Tabs {
  const narrow = matchMedia("(max-width: 800px)");
  const element = make("div.person-tabs", { role: "tablist", "aria-label": "Views" });
  const isMain = (id: string): boolean => views.some((view) => view.id === id && (view.main ?? view.id === "app"));
  const heads = new Map<string, HTMLElement>();
  for (const { id, name, panel, untabbed } of views) {
    panel.id = `view-${id}`;
    if (!untabbed) {
      const head = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": panel.id }, name, make("span.person-count"));
      head.classList.toggle("person-main-tab", isMain(id));
      head.addEventListener("click", () => choose(id));
      heads.set(id, head);
      if (panel.tagName !== "IFRAME") {
        panel.setAttribute("role", "tabpanel");
      }
    }
  }
  let current = first;
  let main = views.find((view) => isMain(view.id))?.id ?? "";
  let side = views.find((view) => !isMain(view.id))?.id ?? "";

  const shown = (): readonly string[] => [...heads.keys()].filter((id) => narrow.matches || !isMain(id));
  function choose(id: string): void {
    current = views.some((view) => view.id === id) ? id : current;
    if (isMain(current)) {
      main = current;
    } else {
      side = current;
    }
    const selected = narrow.matches ? current : side;
    for (const { id: one, panel } of views) {
      heads.get(one)?.setAttribute("aria-selected", String(one === selected));
      heads.get(one)?.setAttribute("tabindex", one === selected ? "0" : "-1");
      panel.classList.toggle("person-shown", narrow.matches ? one === current : one === main || one === side);
    }
    if (!heads.has(selected)) {
      heads.get(shown()[0] ?? "")?.setAttribute("tabindex", "0");
    }
    changed(narrow.matches ? current : main, selected);
  }
  element.append(...heads.values());
  element.addEventListener("keydown", (event) => {
    const by = STEPS[event.key];
    if (by !== undefined) {
      const all = shown();
      const from = all.indexOf(narrow.matches ? current : side);
      const next = all[(from + by + all.length) % all.length] ?? current;
      choose(next);
      heads.get(next)?.focus();
    }
  });
  narrow.addEventListener("change", () => choose(current));
  choose(first);
  return {
    element,
    choose,
    chosen: () => current,
    count(id, number) {
      const badge = heads.get(id)?.querySelector(".person-count");
      if (badge) {
        badge.textContent = number ? String(number) : "";
      }
    },
    isNarrow: () => narrow.matches,
  };
}
