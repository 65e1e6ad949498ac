/** The form that fetches an app: from an archive on this computer or from a Git address. */
import { button, make } from "../../nlui/dom";
import { reasonOf } from "../client";
import type { AppsApi, Import } from "./api";

export function importApp(api: AppsApi, fetched: (staged: Import) => void, cancel: () => void): HTMLElement {
  const problem = make("p.apps-problem", { role: "alert" });
  const said = make("p.apps-said", { role: "status" });
  const address = make("input.apps-field", { required: "", placeholder: "https://github.com/OWNER/REPOSITORY/tree/main/apps/NAME", autocomplete: "off", spellcheck: "false", "aria-label": "Address of the repository" });
  const get = make("button.apps-primary", { type: "submit" }, "Fetch");
  const file = make("input", { type: "file", accept: ".zip,.tar,.tgz,.gz,.bz2,.xz", tabindex: "-1", "aria-label": "Archive" });
  const choose = button("Choose a file…", () => file.click());
  const drop = make("div.apps-drop", {}, make("b", {}, "Drop a zip or tar archive here"), make("span.apps-dim", {}, "or"), choose, file);

  async function take(words: string, work: Promise<Import>): Promise<void> {
    const controls = [get, choose, address];
    controls.forEach((one) => (one.disabled = true));
    problem.textContent = "";
    said.textContent = words;
    try {
      fetched(await work);
    } catch (error) {
      problem.textContent = reasonOf(error);
    } finally {
      said.textContent = "";
      controls.forEach((one) => (one.disabled = false));
    }
  }
  const unpack = (chosen: File | undefined): void => {
    if (chosen) {
      void take(`Unpacking ${chosen.name}…`, api.importArchive(chosen));
    }
  };
  file.addEventListener("change", () => {
    unpack(file.files?.[0]);
    file.value = "";
  });
  const over = (event: DragEvent, on: boolean): void => {
    event.preventDefault();
    drop.classList.toggle("apps-over", on);
  };
  drop.addEventListener("dragover", (event) => over(event, true));
  drop.addEventListener("dragleave", (event) => over(event, false));
  drop.addEventListener("drop", (event) => {
    over(event, false);
    unpack(event.dataTransfer?.files[0]);
  });
  const git = make("form.apps-git", {}, address, get);
  git.addEventListener("submit", (event) => {
    event.preventDefault();
    void take("Fetching the repository…", api.importGit(address.value));
  });
  queueMicrotask(() => address.focus());
  return make(
    "section.apps-form",
    { "aria-label": "Import an app" },
    make("h2", {}, "Import an app"),
    make("p.apps-about", {}, "Nothing is installed yet: you first see every file and what the app may do."),
    make("h3", {}, "From a Git address"),
    git,
    make("p.apps-dim", {}, "A repository, or the folder of one app in it. The server fetches it with git."),
    make("h3", {}, "From an archive"),
    drop,
    problem,
    said,
    make("div.apps-row", {}, button("Cancel", cancel)),
  );
}
