/** The menu of a heading: sort, filter, group, move, resize and hide, all of it by keyboard too. */
import { make } from "../base";
import { place } from "../popup";
import type { Column } from "./columns";
import type { Query } from "./data";

export interface MenuHooks {
  readonly sort: (descending: boolean) => void;
  readonly filter: (text: string) => void;
  readonly group: () => void;
  readonly hide: () => void;
  readonly move: (by: number) => void;
  readonly resize: (by: number) => void;
  readonly closed: () => void;
}

const HINT = "text, =text, >5, 1..5";

/** Open the menu below a heading. */
export function openColumnMenu(root: ShadowRoot, heading: HTMLElement, column: Column, query: Query, hooks: MenuHooks): void {
  const menu = make("div.menu", { role: "dialog", "aria-label": `Column ${column.label}`, popover: "auto" });
  const close = (): void => menu.hidePopover();
  const item = (text: string, act: () => void, stays = false): HTMLButtonElement => {
    const made = make("button", { type: "button" }, text);
    made.addEventListener("click", () => {
      if (!stays) {
        close();
      }
      act();
    });
    return made;
  };
  const filter = make("input", { type: "text", value: query.filters[column.name] ?? "", placeholder: HINT });
  filter.addEventListener("input", () => hooks.filter(filter.value));
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      close();
    }
  });
  menu.append(
    make("label", {}, "Filter", filter),
    item("Sort up", () => hooks.sort(false)),
    item("Sort down", () => hooks.sort(true)),
    item(query.group === column.name ? "Do not group" : "Group by this", hooks.group),
    make("div.pair", {}, item("Move left", () => hooks.move(-1)), item("Move right", () => hooks.move(1))),
    make("div.pair", {}, item("Narrower", () => hooks.resize(-24), true), item("Wider", () => hooks.resize(24), true)),
    item("Hide", hooks.hide),
  );
  menu.addEventListener("toggle", (event) => {
    if ((event).newState === "closed") {
      menu.remove();
      hooks.closed();
    }
  });
  root.append(menu);
  menu.showPopover();
  place(menu, heading);
  filter.focus();
}
