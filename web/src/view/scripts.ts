/** Scripts of viewdefs: they wait empty until their view is on the page and bound, then run in document order. */

interface Waiting {
  readonly code: string;
  readonly src: string | null;
}

const waiting = new WeakMap<Element, Waiting>();

/** Put an empty script in the place of each cloned one; cloned scripts would never run. */
export function holdScripts(content: DocumentFragment): void {
  for (const script of content.querySelectorAll("script")) {
    const fresh = document.createElement("script");
    for (const { name, value } of script.attributes) {
      if (name !== "src") {
        fresh.setAttribute(name, value);
      }
    }
    fresh.async = false;
    waiting.set(fresh, { code: script.textContent, src: script.getAttribute("src") });
    script.replaceWith(fresh);
  }
}

/** Run what waits in and under `nodes`; a script that throws does not stop the next. */
export function runScripts(nodes: readonly Node[]): void {
  for (const node of nodes) {
    if (node instanceof HTMLScriptElement) {
      run(node);
    } else if (node instanceof Element) {
      node.querySelectorAll("script").forEach(run);
    }
  }
}

function run(script: HTMLScriptElement): void {
  const held = waiting.get(script);
  if (held === undefined || !script.isConnected) {
    return;
  }
  waiting.delete(script);
  if (held.src === null) {
    script.textContent = held.code;
  } else {
    script.src = held.src;
  }
}
