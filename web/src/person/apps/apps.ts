/** All apps of the project: the list, and beside it an app, a form, a review or the app itself. */
import { button, make } from "../../nlui/dom";
import { type Fetch, reasonOf } from "../client";
import { type AppDetail, appsApi, type Import, type Listing, type Progress } from "./api";
import { appDetail, type Detail } from "./app_detail";
import { appList } from "./app_list";
import { importApp } from "./import_app";
import { importReview } from "./import_review";
import { newApp } from "./new_app";
import "./apps.css";

const POLL_MS = 5000;

export interface Apps {
  readonly element: HTMLElement;
  /** Load the list again, and keep it current while the view is shown. */
  shown(isShown: boolean): void;
  progress(now: Progress): void;
  stop(): void;
}

export interface AppsSurroundings {
  /** Show or hide the frame in the place of the details; on narrow screens it is a view of its own. */
  preview(isOn: boolean): void;
}

export function apps(fetch: Fetch, around: AppsSurroundings): Apps {
  const api = appsApi(fetch);
  const title = make("h1.apps-title", {}, "All apps");
  const fresh = button("New app", () => openNew(), "apps-primary");
  const bring = button("Import…", () => openImport());
  const waiting = make("div.apps-waiting");
  const problem = make("p.apps-problem", { role: "alert" });
  const list = appList((name) => void open(name));
  const place = make("div.apps-place");
  const toast = make("div.apps-toast", { role: "status" });
  toast.hidden = true;
  const side = make("div.apps-side", {}, make("div.apps-bar", {}, title, fresh, bring), waiting, problem, list.element);
  const element = make("section.person-main-view.apps", { "aria-label": "All apps" }, side, place, toast);
  let listing: Listing | null = null;
  let building: Progress["apps"] = {};
  let detail: Detail | null = null;
  let current: string | null = null;
  let timer = 0;
  let toastTimer = 0;

  async function refresh(): Promise<void> {
    try {
      listing = await api.list();
      problem.textContent = "";
      list.show(listing.apps, listing.displayed);
      waiting.replaceChildren(...listing.imports.map(({ id, source }) => waitingImport(id, source.label)));
      if (current === null && !place.hasChildNodes()) {
        place.replaceChildren(nothing(listing));
      }
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }

  function fill(content: HTMLElement | null, name: string | null = null): void {
    around.preview(false);
    current = name;
    detail = null;
    list.select(name);
    element.classList.toggle("apps-chosen", content !== null);
    place.replaceChildren(...(content ? [back(), content] : listing ? [nothing(listing)] : []));
    place.scrollTop = 0;
  }

  /** Narrow screens show the list or what was chosen from it. */
  function back(): HTMLElement {
    return button("‹ All apps", () => leave(), "apps-back");
  }

  function leave(): void {
    fill(null);
    list.focus();
  }

  async function open(name: string): Promise<void> {
    try {
      const app = await api.describe(name);
      const made = appDetail(app, api, { show: (one) => void show(one), remove: confirmRemoval });
      fill(made.element, name);
      detail = made;
      made.progress(building);
      made.element.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }

  async function show(name: string): Promise<void> {
    try {
      const { note } = await api.show(name);
      if (note) {
        say(note);
      }
    } catch (error) {
      say(reasonOf(error));
      return;
    }
    const close = button("Close", () => void open(name), "apps-close");
    fill(make("div.apps-shown", {}, make("b", {}, name), close), name);
    around.preview(true);
    await refresh();
  }

  function openNew(): void {
    fill(
      newApp(
        api,
        (name) => {
          void refresh().then(() => open(name));
        },
        leave,
      ),
    );
  }

  function openImport(): void {
    fill(importApp(api, openReview, leave));
  }

  function openReview(staged: Import): void {
    fill(
      importReview(staged, api, {
        installed(name, more) {
          void refresh().then(() => (more ? reopen(staged.id) : open(name)));
          say(`“${name}” is installed.`);
        },
        discarded() {
          void refresh();
          leave();
          say("Discarded; nothing of it is left.");
        },
      }),
    );
    place.querySelector<HTMLElement>("h2")?.focus();
    void refresh();
  }

  async function reopen(id: string): Promise<void> {
    try {
      openReview(await api.staged(id));
    } catch (error) {
      say(reasonOf(error));
      void refresh();
    }
  }

  function waitingImport(id: string, label: string): HTMLElement {
    return button(`Waiting for your review: ${label}`, () => void reopen(id), "apps-review-waits");
  }

  function confirmRemoval(app: AppDetail): void {
    const dialog = make("dialog.apps-dialog", { "aria-label": `Delete ${app.title}` });
    const cancel = button("Keep it", () => dialog.close());
    const yes = button("Delete", () => {
      dialog.close();
      void remove(app.name);
    }, "apps-danger-filled");
    dialog.append(make("h2", {}, `Delete “${app.title}”?`), make("p", {}, "Its folder leaves apps/. What it keeps in storage/ stays, and you can undo this."), make("div.apps-row.apps-end", {}, cancel, yes));
    dialog.addEventListener("close", () => dialog.remove());
    element.append(dialog);
    dialog.showModal();
    cancel.focus();
  }

  async function remove(name: string): Promise<void> {
    try {
      const { undo } = await api.remove(name);
      fill(null);
      await refresh();
      const again = button("Undo", () => {
        api.restore(undo).then(
          () => {
            toast.hidden = true;
            void refresh().then(() => open(name));
          },
          (error: unknown) => say(reasonOf(error)),
        );
      });
      say(`“${name}” is deleted.`, again);
      again.focus();
    } catch (error) {
      say(reasonOf(error));
    }
  }

  function say(words: string, ...more: readonly HTMLElement[]): void {
    toast.replaceChildren(words, ...more, button("×", () => (toast.hidden = true), "apps-dismiss"));
    toast.querySelector(".apps-dismiss")?.setAttribute("aria-label", "Dismiss");
    toast.hidden = false;
    clearTimeout(toastTimer);
    toastTimer = window.setTimeout(() => (toast.hidden = true), more.length ? 20_000 : 6000);
  }

  function nothing(known: Listing): HTMLElement {
    const none = known.apps.length === 0;
    return make(
      "div.apps-empty",
      {},
      make("strong", {}, none ? "No apps yet" : "Choose an app"),
      make("span", {}, none ? "Describe one and your agent builds it, start from a working example, or import one from elsewhere." : "See what it is for, how well it is tested and what the audit finds; show it, or ask your agent to change it."),
      none ? make("div.apps-row", {}, button("New app", () => openNew(), "apps-primary"), button("Import…", () => openImport())) : null,
      make("code.apps-dim", {}, known.folder),
    );
  }

  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && element.classList.contains("apps-chosen") && !element.querySelector("dialog[open]")) {
      leave();
    }
  });
  return {
    element,
    shown(isShown) {
      clearInterval(timer);
      if (isShown) {
        void refresh();
        timer = window.setInterval(() => void (document.hidden ? undefined : refresh()), POLL_MS);
      }
    },
    progress(now) {
      building = now.apps;
      list.progress(building);
      detail?.progress(building);
    },
    stop() {
      clearInterval(timer);
      clearTimeout(toastTimer);
    },
  };
}
