/** The list of apps: name, state and progress of each, with a filter and arrow keys. */
import { make } from "../../nlui/dom";
import type { AppEntry, Progress } from "./api";

export interface AppList {
  readonly element: HTMLElement;
  show(apps: readonly AppEntry[], displayed: string | null): void;
  select(name: string | null): void;
  progress(apps: Progress["apps"]): void;
  focus(): void;
}

const FILTER_FROM = 7;

export function appList(chosen: (name: string) => void): AppList {
  const filter = make("input.apps-filter", { type: "search", placeholder: "Filter apps", "aria-label": "Filter apps" });
  const list = make("ul.apps-items", { "aria-label": "Apps" });
  const none = make("p.apps-none", { role: "status" });
  const element = make("div.apps-list", {}, filter, list, none);
  let entries: readonly AppEntry[] = [];
  let current: string | null = null;
  let shownApp: string | null = null;
  let building: Progress["apps"] = {};

  const buttons = (): HTMLButtonElement[] => [...list.querySelectorAll("button")];
  function draw(): void {
    const words = filter.value.trim().toLowerCase();
    const matching = entries.filter((app) => `${app.title}\n${app.name}\n${app.about}`.toLowerCase().includes(words));
    const focused = list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["name"] : undefined;
    list.replaceChildren(...matching.map((app) => make("li", {}, item(app))));
    filter.hidden = entries.length < FILTER_FROM && !words;
    none.textContent = entries.length && !matching.length ? "No app matches." : "";
    buttons().find((one) => one.dataset["name"] === focused)?.focus();
  }

  function item(app: AppEntry): HTMLElement {
    const stage = building[app.name];
    const made = make(
      "button.apps-item",
      { type: "button", "data-name": app.name },
      make("span.apps-initial", { "aria-hidden": "true" }, app.title.slice(0, 1).toUpperCase()),
      make("span.apps-names", {}, make("b", {}, app.title), make(app.name === shownApp ? "small.apps-now" : "small", app.name === shownApp ? { title: "Shown now" } : {}, app.name)),
      stage ? make("span.apps-chip.apps-busy", {}, stage.progress === null ? "…" : `${Math.round(stage.progress)} %`) : chip(app),
    );
    if (stage) {
      const bar = make("progress.apps-progress", { max: "100", "aria-label": stage.stage || "Being built", title: stage.stage });
      bar.value = stage.progress ?? 0;
      made.append(bar);
    }
    if (app.name === current) {
      made.setAttribute("aria-current", "true");
    }
    made.addEventListener("click", () => chosen(app.name));
    return made;
  }

  filter.addEventListener("input", draw);
  element.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0) {
      return;
    }
    event.preventDefault();
    const all = buttons();
    const at = all.findIndex((one) => one === document.activeElement);
    all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
  });
  return {
    element,
    show(apps, displayed) {
      if (displayed === shownApp && JSON.stringify(apps) === JSON.stringify(entries) && list.hasChildNodes()) {
        return; // drawing it again would take the place that the person scrolled to
      }
      entries = apps;
      shownApp = displayed;
      draw();
    },
    select(name) {
      current = name;
      draw();
    },
    progress(apps) {
      building = apps;
      draw();
    },
    focus: () => (buttons().find((one) => one.dataset["name"] === current) ?? buttons()[0])?.focus(),
  };
}

/** The state of an app in two words. */
export function chip(app: AppEntry): HTMLElement {
  if (!app.built) {
    return make("span.apps-chip", { title: "There is no code yet; ask your agent to build it" }, "planned");
  }
  if (app.issues) {
    return make("span.apps-chip.apps-warn", {}, app.issues === 1 ? "1 issue" : `${app.issues} issues`);
  }
  if (app.total) {
    const all = app.passed === app.total;
    return make(all ? "span.apps-chip.apps-good" : "span.apps-chip.apps-warn", { title: "Tests that passed" }, `${app.passed}/${app.total}`);
  }
  return make("span.apps-chip", { title: "There is no TESTING.md" }, "no tests");
}
