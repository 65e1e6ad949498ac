/** Draws boxes with uids over all operable elements, for screenshots. */

import { allRoots } from "./dom";
import type { Refs } from "./refs";
import { accessibleTextOf } from "./accessible_text";

const OPERABLE = "a[href],button,input,select,textarea,summary,[role=button],[role=tab],[role=option],[role=menuitem],[role=row],[role=gridcell],[role=columnheader],[role=treeitem],[tabindex],[onclick]";
const ID = "ui-mcp-annotations";

export function annotate(refs: Refs): { count: number } {
  clear();
  const layer = newLayer();
  const found = allRoots().flatMap((root) => [...root.querySelectorAll(OPERABLE)]);
  for (const element of new Set(found.map(control))) {
    const box = element.getBoundingClientRect();
    if (box.width && box.height && element.checkVisibility()) layer.append(frame(box, refs.uidOf(element)));
  }
  document.documentElement.append(layer);
  return { count: layer.childElementCount };
}

/** Draw one box around an element, to show a place in a picture. */
export function mark(element: Element): { count: number } {
  clear();
  const layer = newLayer();
  const { x, y, width, height } = element.getBoundingClientRect();
  const box = document.createElement("div");
  box.style.cssText = `position:absolute;left:${x - 3}px;top:${y - 3}px;width:${width + 6}px;height:${height + 6}px;box-sizing:border-box;border:3px solid #d6006c;border-radius:4px`;
  layer.append(box);
  document.documentElement.append(layer);
  return { count: 1 };
}

export function clear(): { count: number } {
  document.getElementById(ID)?.remove();
  return { count: 0 };
}

function newLayer(): HTMLElement {
  const layer = document.createElement("div");
  layer.id = ID;
  layer.style.cssText = "position:fixed;inset:0;pointer-events:none;z-index:2147483647";
  return layer;
}

/** The element that snapshots list: the component, for parts inside its shadow root. */
function control(element: Element): Element {
  const root = element.getRootNode();
  const host = root.nodeType === Node.DOCUMENT_FRAGMENT_NODE ? (root as ShadowRoot).host : null;
  return host && accessibleTextOf(host).leaf ? control(host) : element;
}

function frame(box: DOMRect, uid: string): HTMLElement {
  const outline = document.createElement("div");
  outline.style.cssText = `position:absolute;left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px;outline:2px solid #d6006c`;
  const tag = document.createElement("span");
  tag.textContent = uid;
  tag.style.cssText = "position:absolute;top:0;right:0;font:10px monospace;background:#d6006c;color:#fff;padding:0 2px";
  outline.append(tag);
  return outline;
}
