/** One app: what it is for, its tests and findings, and what the person can do with it. */
import { markdown } from "../../chat/markdown";
import { button, make } from "../../nlui/dom";
import { reasonOf } from "../client";
import { type AppDetail, type AppsApi, type Finding, type Progress, type Request, sizeText, type TestOutcome } from "./api";
import { chip } from "./app_list";

export interface DetailActions {
  show(name: string): void;
  remove(app: AppDetail): void;
}

export interface Detail {
  readonly element: HTMLElement;
  progress(apps: Progress["apps"]): void;
}

export function appDetail(app: AppDetail, api: AppsApi, acts: DetailActions): Detail {
  const said = make("p.apps-said", { role: "status" });
  const outcome = make("div.apps-outcome");
  const stage = make("div.apps-stage", { role: "status" });
  stage.hidden = true;
  const show = button("Show", () => acts.show(app.name), "apps-primary");
  show.disabled = !app.built;
  show.title = app.built ? "Show it beside this list" : "There is nothing to show until it is built";
  const test = button("Run test.json", () => void runTest());
  test.hidden = !app.scenario;
  const remove = button("Delete…", () => acts.remove(app), "apps-danger");
  remove.hidden = app.linked;

  async function runTest(): Promise<void> {
    test.disabled = true;
    said.textContent = "Testing in a browser of the server’s own…";
    try {
      outcome.replaceChildren(testOutcome(await api.test(app.name)));
      said.textContent = "";
    } catch (error) {
      said.textContent = reasonOf(error);
    } finally {
      test.disabled = false;
    }
  }

  async function ask(request: Request, text: string): Promise<void> {
    try {
      const { listening } = await api.ask(app.name, request, text);
      said.textContent = listening ? "Your agent has been asked." : "Kept for your agent: it is not listening now, and gets this when it listens again.";
    } catch (error) {
      said.textContent = reasonOf(error);
    }
  }

  const facts = make("p.apps-facts", {}, make("code", {}, `apps/${app.name}`), chip(app), app.linked ? make("span.apps-chip", {}, "linked folder") : null);
  const element = make(
    "article.apps-detail",
    { "aria-label": app.title },
    make("header.apps-head", {}, make("h2", { tabindex: "-1" }, app.title), facts, app.about ? make("p.apps-about", {}, app.about) : null),
    make("div.apps-acts", {}, show, test, make("span.apps-space"), remove),
    said,
    stage,
    outcome,
    askForm(app, (request, text) => void ask(request, text)),
    ...sections(app),
  );
  return {
    element,
    progress(apps) {
      const now = apps[app.name];
      stage.hidden = now === undefined;
      const bar = make("progress.apps-progress", { max: "100", "aria-label": "How far it is built" });
      bar.value = now?.progress ?? 0;
      stage.replaceChildren(make("span", {}, now?.stage || "Being built"), bar);
    },
  };
}

function askForm(app: AppDetail, ask: (request: Request, text: string) => void): HTMLElement {
  const words = make("textarea.apps-field", { rows: "2", placeholder: app.built ? "What should change?" : "Anything to add to the requirements?", "aria-label": "What to ask the agent" });
  const send = (request: Request): void => {
    ask(request, words.value.trim());
    words.value = "";
  };
  const problems = app.violations.length + app.known.length;
  const form = make(
    "form.apps-ask",
    {},
    make("h3", {}, "Ask your agent"),
    words,
    make(
      "div.apps-row",
      {},
      make("button", { type: "submit" }, app.built ? "Ask for this" : "Build it"),
      app.built && problems ? button(`Fix ${problems === 1 ? "the problem" : `${problems} problems`}`, () => send("fix")) : null,
      app.built ? button("Test it", () => send("test")) : null,
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(app.built ? "improve" : "build");
  });
  return form;
}

function sections(app: AppDetail): HTMLElement[] {
  const findings = [...app.violations, ...app.warnings];
  return [
    ...(app.source ? [origin(app.source)] : []),
    section("Requirements", app.requirements ? make("div.apps-text", {}, markdown(withoutTitle(app.requirements))) : empty("There is no requirements.md."), !app.built),
    section(`Tests${app.total ? ` · ${app.passed} of ${app.total} passed` : ""}`, tests(app), app.total > 0),
    ...(app.known.length ? [section(`Known issues · ${app.known.length}`, plainList(app.known), true)] : []),
    ...(app.fixed.length ? [section(`Fixed issues · ${app.fixed.length}`, plainList(app.fixed), false)] : []),
    section(`Audit · ${findings.length ? `${app.violations.length} to fix, ${app.warnings.length} to look at` : "nothing found"}`, audit(app), app.violations.length > 0),
    ...(app.abilities.length ? [section(`What it may do · ${app.abilities.length}`, abilities(app), false)] : []),
    ...(app.design ? [section("Design", make("div.apps-text", {}, markdown(withoutTitle(app.design))), false)] : []),
    ...(app.readme ? [section("Read me", make("div.apps-text", {}, markdown(withoutTitle(app.readme))), false)] : []),
    section(`Files · ${app.files.length}`, files(app), false),
  ];
}

function section(title: string, body: HTMLElement, open: boolean): HTMLElement {
  const made = make("details.apps-section", {}, make("summary", {}, title), body);
  made.open = open;
  return made;
}

function empty(words: string): HTMLElement {
  return make("p.apps-dim", {}, words);
}

function tests(app: AppDetail): HTMLElement {
  if (!app.tests.length) {
    return empty("There is no TESTING.md with a checklist. Ask your agent to test the app; it writes one.");
  }
  const rows = app.tests.map(({ text, passed }) =>
    make(passed ? "li.apps-passed" : "li", {}, make("span.apps-mark", { role: "img", "aria-label": passed ? "Passed" : "Not passed" }, passed ? "✓" : "○"), text),
  );
  return make("ul.apps-checks", {}, ...rows);
}

function plainList(items: readonly string[]): HTMLElement {
  return make("ul.apps-plain", {}, ...items.map((text) => make("li", {}, text)));
}

function audit(app: AppDetail): HTMLElement {
  const rows = (found: readonly Finding[], style: "apps-bad" | "apps-warn"): HTMLElement[] =>
    found.map((one) => make("li", {}, make("span.apps-where", {}, make("code", {}, one.location), make(`span.apps-chip.${style}`, {}, one.rule.replaceAll("_", " "))), make("span", {}, one.text)));
  const all = [...rows(app.violations, "apps-bad"), ...rows(app.warnings, "apps-warn")];
  return all.length ? make("ul.apps-findings", {}, ...all) : empty(app.built ? "The code and the views have none of the known mistakes." : "There is no code to check yet.");
}

function abilities(app: AppDetail): HTMLElement {
  return make("ul.apps-findings", {}, ...app.abilities.map((one) => make("li", {}, make("b", {}, one.title), make("span", {}, one.about))));
}

function origin(source: NonNullable<AppDetail["source"]>): HTMLElement {
  const when = new Date(source.at * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
  const changed = source.changed ? "changed here since then" : "unchanged since then";
  return make("p.apps-origin", {}, source.kind === "git" ? "From Git: " : "From an archive: ", make("code", {}, source.label), `, imported ${when}, ${changed}.`);
}

function files(app: AppDetail): HTMLElement {
  return make("ul.apps-files", {}, ...app.files.map(({ path, size }) => make("li", {}, make("code", {}, path), make("span.apps-dim", {}, sizeText(size)))));
}

function testOutcome(outcome: TestOutcome): HTMLElement {
  if (outcome.ok) {
    return make("p.apps-result.apps-good", { role: "status" }, `Passed: all ${outcome.steps} steps.`);
  }
  const { step, error } = outcome.failure ?? {};
  const message = (error as { readonly message?: unknown } | undefined)?.message ?? outcome.failure?.["message"];
  const words = typeof message === "string" ? message : JSON.stringify(outcome.failure);
  const picture = outcome.picture ? make("img", { src: `data:image/png;base64,${outcome.picture}`, alt: "The app when the test failed" }) : null;
  return make("div.apps-result.apps-bad", { role: "status" }, make("b", {}, typeof step === "number" ? `Step ${step + 1} of ${outcome.steps} failed` : "The test failed"), make("p", {}, words), picture);
}

function withoutTitle(text: string): string {
  return text.replace(/^# .*\n/, "");
}
