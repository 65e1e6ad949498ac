import { expect, test, vi } from "vitest";
import { importApp } from "../../../src/person/apps/import_app";
import { fakeApi, settled, STAGED } from "./fake_apps";

const file = new File(["x"], "notes.zip");

function dragged(kind: string, files: readonly File[]): Event {
  return Object.assign(new Event(kind, { cancelable: true }), { dataTransfer: { files } });
}

test("a dropped archive is unpacked by the server", async () => {
  const api = fakeApi();
  const fetched = vi.fn();
  const drop = importApp(api, fetched, vi.fn()).querySelector(".apps-drop");
  drop?.dispatchEvent(dragged("dragover", []));
  const over = drop?.classList.contains("apps-over");
  drop?.dispatchEvent(dragged("dragleave", []));
  drop?.dispatchEvent(dragged("drop", []));
  drop?.dispatchEvent(dragged("drop", [file]));
  await settled();
  expect([over, api.importArchive.mock.calls, fetched.mock.calls]).toEqual([true, [[file]], [[STAGED]]]);
});

test("a refused archive says why, and the form can be used again", async () => {
  const api = fakeApi();
  api.importArchive.mockRejectedValueOnce(new Error("a link"));
  const form = importApp(api, vi.fn(), vi.fn());
  const input = form.querySelector<HTMLInputElement>("input[type=file]");
  Object.defineProperty(input, "files", { value: [file], configurable: true });
  input?.dispatchEvent(new Event("change"));
  await settled();
  expect([form.querySelector(".apps-problem")?.textContent, form.querySelector<HTMLButtonElement>(".apps-primary")?.disabled]).toEqual(["a link", false]);
});
