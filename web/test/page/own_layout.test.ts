import { afterEach, expect, test } from "vitest";
import { markOwnLayout } from "../../src/page/own_layout";

afterEach(() => document.body.replaceChildren());

async function marked(html: string): Promise<boolean> {
  document.body.innerHTML = `<main class="shell-main">${html}</main>`;
  await Promise.resolve();
  return document.documentElement.hasAttribute("data-own-layout");
}

test("an app with a class at its root and a style lays itself out, until it is gone", async () => {
  markOwnLayout(document.body);
  expect(await marked('<div class="board ui-view-Board shell-app"><p><style>p { color: red; }</style></p></div>')).toBe(true);
  expect(await marked('<div class="ui-view-Board shell-app"><style>p { color: red; }</style></div>')).toBe(false);
  expect(await marked('<div class="board ui-view-Board shell-app"><p>plain</p></div>')).toBe(false);
});
