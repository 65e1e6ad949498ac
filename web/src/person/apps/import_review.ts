/** The review of a staged import: what the app may do, every file of it, and the decision. */
import { button, make } from "../../nlui/dom";
import { arm } from "../armed";
import { reasonOf } from "../client";
import { type Ability, type AppsApi, type Import, sizeText, type StagedApp } from "./api";

export interface ReviewActions {
  installed(name: string, more: boolean): void;
  discarded(): void;
}

export function importReview(staged: Import, api: AppsApi, acts: ReviewActions): HTMLElement {
  const chosen = make("select.apps-field", { "aria-label": "App" }, ...staged.apps.map((app, at) => make("option", { value: String(at) }, app.folder || app.name)));
  const body = make("div.apps-review-body");
  const draw = (): void => {
    const app = staged.apps[chosen.selectedIndex] ?? staged.apps[0];
    body.replaceChildren(...(app ? [oneApp(staged, app, api, acts)] : []));
  };
  chosen.addEventListener("change", draw);
  const several = staged.apps.length > 1;
  const left = staged.left_out.length;
  const element = make(
    "section.apps-form.apps-review",
    { "aria-label": "Review before installing" },
    make("h2", { tabindex: "-1" }, "Review before installing"),
    make("p.apps-origin", {}, staged.source.kind === "git" ? "From Git: " : "From an archive: ", make("code", {}, staged.source.label), left ? `; ${left === 1 ? "1 hidden file was" : `${left} hidden files were`} left out.` : "."),
    several ? make("label.apps-label", {}, make("span", {}, `It contains ${staged.apps.length} apps`), chosen) : null,
    body,
  );
  draw();
  return element;
}

function oneApp(staged: Import, app: StagedApp, api: AppsApi, acts: ReviewActions): HTMLElement {
  const viewer = fileViewer(staged, app, api);
  const summary = verdict(app.abilities);
  const cards = app.abilities.map((ability) => abilityCard(ability, (path, line) => viewer.open(path, line)));
  return make(
    "div.apps-review-app",
    {},
    make(`p.apps-verdict.apps-${summary.level}`, {}, summary.words),
    make("h3", {}, "What it may do"),
    cards.length ? make("ul.apps-abilities", {}, ...cards) : make("p.apps-dim", {}, "It only shows things and keeps them in memory."),
    make("p.apps-dim", {}, "Found by reading the files, so that you know where to look. What every app may really do is set by the permissions in your settings."),
    make("h3", {}, `Files · ${app.files.length}, ${sizeText(app.size)}`),
    viewer.element,
    decision(staged, app, api, acts),
  );
}

export function verdict(abilities: readonly Ability[]): { readonly level: Ability["level"] | "good"; readonly words: string } {
  const count = (level: Ability["level"]): number => abilities.filter((one) => one.level === level).length;
  const things = (number: number): string => (number === 1 ? "1 thing" : `${number} things`);
  if (count("danger")) {
    return { level: "danger", words: `${things(count("danger"))} to distrust. Install it only if you know and trust its author.` };
  }
  if (count("warning")) {
    return { level: "warning", words: `${things(count("warning"))} to look at before you install it.` };
  }
  return { level: "good", words: "Nothing unusual was found." };
}

const MARKS = { danger: "!", warning: "!", info: "i" } as const;

function abilityCard(ability: Ability, open: (path: string, line: number) => void): HTMLElement {
  const places = ability.places.map((place) => {
    const link = button(`${place.path}:${place.line}`, () => open(place.path, place.line), "apps-link");
    return make("li", {}, link, make("code", {}, place.text));
  });
  const more = ability.count - ability.places.length;
  return make(
    "li.apps-ability",
    { "data-level": ability.level },
    make("span.apps-sign", { "aria-hidden": "true" }, MARKS[ability.level]),
    make(
      "div",
      {},
      make("b", {}, ability.title),
      make("p", {}, ability.about),
      make("details", {}, make("summary", {}, ability.count === 1 ? "1 place" : `${ability.count} places`), make("ul.apps-places", {}, ...places, more > 0 ? make("li.apps-dim", {}, `and ${more} more`) : null)),
    ),
  );
}

interface Viewer {
  readonly element: HTMLElement;
  open(path: string, line?: number): void;
}

function fileViewer(staged: Import, app: StagedApp, api: AppsApi): Viewer {
  const levels = new Map<string, Ability["level"]>();
  for (const ability of [...app.abilities].reverse()) {
    ability.places.forEach(({ path, line }) => levels.set(`${path}:${line}`, ability.level));
  }
  const text = make("div.apps-source", { tabindex: "0", role: "region", "aria-label": "File" });
  const tabs = app.files.map(({ path, size }) => {
    const marked = [...levels].filter(([place, level]) => place.startsWith(`${path}:`) && level !== "info").length;
    const made = button(path, () => open(path), "apps-file");
    made.title = sizeText(size);
    if (marked) {
      made.append(make("span.apps-chip.apps-warn", {}, String(marked)));
    }
    return { path, made };
  });

  function open(path: string, line = 0): void {
    tabs.forEach(({ path: one, made }) => made.setAttribute("aria-pressed", String(one === path)));
    text.setAttribute("aria-label", path);
    api.file(staged.id, app.folder ? `${app.folder}/${path}` : path).then(
      (file) => {
        const lines = file.text.split("\n");
        text.replaceChildren(
          ...(file.binary ? [make("p.apps-dim", {}, `${sizeText(file.size)} that are no text.`)] : lines.map((words, at) => sourceLine(words, at + 1, levels.get(`${path}:${at + 1}`)))),
          ...(file.cut ? [make("p.apps-dim", {}, "The rest is not shown.")] : []),
        );
        const wanted = text.querySelector(`[data-line="${line}"]`);
        wanted?.scrollIntoView({ block: "center" });
        wanted?.classList.add("apps-wanted");
        if (line) {
          text.focus({ preventScroll: true });
          text.scrollIntoView({ block: "nearest" });
        }
      },
      (error: unknown) => text.replaceChildren(make("p.apps-problem", {}, reasonOf(error))),
    );
  }
  const first = app.files.find(({ path }) => path === "app.lua") ?? app.files[0];
  if (first) {
    open(first.path);
  }
  return { element: make("div.apps-viewer", {}, make("div.apps-filelist", { role: "group", "aria-label": "Files" }, ...tabs.map(({ made }) => made)), text), open };
}

function sourceLine(words: string, number: number, level: Ability["level"] | undefined): HTMLElement {
  const made = make("div.apps-line", { "data-line": String(number) }, make("span.apps-number", { "aria-hidden": "true" }, String(number)), make("code", {}, plainly(words)));
  if (level && level !== "info") {
    made.dataset["level"] = level;
  }
  return made;
}

/** Characters that change how the rest is displayed are written out. */
function plainly(words: string): string {
  return words.replace(/[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\u00ad]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function decision(staged: Import, app: StagedApp, api: AppsApi, acts: ReviewActions): HTMLElement {
  const name = make("input.apps-field", { value: app.name, maxlength: "40", autocomplete: "off", spellcheck: "false" });
  const replace = make("input", { type: "checkbox" });
  const replacing = make("label.apps-check", {}, replace, `Replace the app “${app.name}” that is there; you can undo this.`);
  replacing.hidden = !app.exists;
  const read = make("input", { type: "checkbox" });
  const problem = make("p.apps-problem", { role: "alert" });
  const install = button("Install", () => void accept(), "apps-primary");
  const discard = button("Throw away", () => void drop(), "apps-danger");
  const element = make(
    "div.apps-decision",
    {},
    make("label.apps-label", {}, make("span", {}, "Name in this project"), name),
    replacing,
    make("label.apps-check", {}, read, "I have read what it may do."),
    problem,
    make("div.apps-row", {}, install, discard),
  );
  const settle = (): void => {
    install.disabled = !read.checked || (app.exists && name.value === app.name && !replace.checked);
  };
  name.addEventListener("input", () => {
    replacing.hidden = !app.exists || name.value !== app.name;
    settle();
  });
  read.addEventListener("change", () => {
    if (read.checked) {
      arm(element);
      window.setTimeout(settle, 510);
    } else {
      settle();
    }
  });
  replace.addEventListener("change", settle);
  settle();

  async function accept(): Promise<void> {
    try {
      const done = await api.accept(staged.id, app.folder, name.value.trim(), replace.checked);
      acts.installed(done.name, staged.apps.length > 1);
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }
  async function drop(): Promise<void> {
    try {
      await api.discard(staged.id);
      acts.discarded();
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }
  return element;
}
