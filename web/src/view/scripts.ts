/** Scripts of viewdefs. They run in document order after their view has been inserted and bound. */

interface Waiting {
  readonly code: string;
  readonly src: string | null;
}

const waiting = new WeakMap<Element, Waiting>();

/** Replace each cloned script by an empty one, to be filled later; cloned scripts never run. */
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

/** Run the scripts in and below `nodes`. A script that throws does not stop the next. */
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
