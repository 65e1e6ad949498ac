/** Tabs of the page. The app is one of them on narrow screens; on wide ones it is always visible beside them. */
import { make } from "../nlui/dom";

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly panel: HTMLElement;
}

export interface Tabs {
  readonly element: HTMLElement;
  choose(id: string): void;
  chosen(): string;
  /** Show a number on a tab; 0 hides it. */
  count(id: string, number: number): void;
  isNarrow(): boolean;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function tabs(views: readonly Tab[], first: string): Tabs {
  const narrow = matchMedia("(max-width: 800px)");
  const element = make("div.person-tabs", { role: "tablist", "aria-label": "Views" });
  const heads = new Map(
    views.map(({ id, name, panel }) => {
      const head = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `view-${id}` }, name, make("span.person-count"));
      head.addEventListener("click", () => choose(id));
      panel.id = `view-${id}`;
      if (panel.tagName !== "IFRAME") {
        panel.setAttribute("role", "tabpanel");
      }
      return [id, head];
    }),
  );
  let current = first;

  const shown = (): readonly string[] => [...heads.keys()].filter((id) => id !== "app" || narrow.matches);
  function choose(id: string): void {
    current = heads.has(id) ? id : current;
    const selected = current === "app" && !narrow.matches ? (shown()[0] ?? "") : current;
    for (const { id: one, panel } of views) {
      const on = one === selected;
      heads.get(one)?.setAttribute("aria-selected", String(on));
      heads.get(one)?.setAttribute("tabindex", on ? "0" : "-1");
      panel.classList.toggle("person-shown", on);
    }
  }
  element.append(...heads.values());
  element.addEventListener("keydown", (event) => {
    const by = STEPS[event.key];
    if (by !== undefined) {
      const all = shown();
      const next = all[(all.indexOf(current) + by + all.length) % all.length] ?? current;
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
