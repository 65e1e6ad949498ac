/**
 * Scripts of viewdefs. They run one after the other in document order, after their view has been inserted and bound: a
 * script with `src` holds back those behind it until it is loaded. `ui-code` waits for the scripts of its view.
 */

interface Waiting {
  readonly code: string;
  readonly src: string | null;
}

type Task = () => Promise<void> | null;

const waiting = new WeakMap<Element, Waiting>();
const queue: Task[] = [];
let running = false;
/** Code of the view that is being bound, null outside. */
let held: Task[] | null = null;

/** How long a script with `src` may hold back the others. */
const MAX_WAIT_MS = 10_000;

/** Replace each cloned script by an empty one, to be filled later; cloned scripts never run. */
export function holdScripts(content: DocumentFragment): void {
  for (const script of content.querySelectorAll("script")) {
    const fresh = document.createElement("script");
    for (const { name, value } of script.attributes) {
      if (name !== "src") {
        fresh.setAttribute(name, value);
      }
    }
    fresh.async = script.hasAttribute("async");
    waiting.set(fresh, { code: script.textContent, src: script.getAttribute("src") });
    script.replaceWith(fresh);
  }
}

/** Bind views, then run the scripts in and below their nodes, then the code of the views. */
export function bindAndRun(bind: () => void, nodes: () => readonly Node[]): void {
  const outer = held;
  const code: Task[] = [];
  held = code;
  try {
    bind();
  } finally {
    held = outer;
  }
  if (outer === null) {
    queue.push(...scriptsIn(nodes()), ...code);
    proceed();
  } else {
    outer.push(...scriptsIn(nodes()), ...code);
  }
}

/** Run code of a view as soon as the scripts before it have run. */
export function runCode(code: () => void): void {
  const task = (): null => {
    code();
    return null;
  };
  if (held === null) {
    queue.push(task);
    proceed();
  } else {
    held.push(task);
  }
}

function scriptsIn(nodes: readonly Node[]): Task[] {
  const scripts = nodes.flatMap((node) => {
    if (node instanceof HTMLScriptElement) {
      return [node];
    }
    return node instanceof Element ? [...node.querySelectorAll("script")] : [];
  });
  return scripts.filter((script) => waiting.has(script)).map((script) => () => run(script));
}

function proceed(): void {
  if (running) {
    return;
  }
  running = true;
  for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
    const loaded = task();
    if (loaded !== null) {
      void loaded.then(() => {
        running = false;
        proceed();
      });
      return;
    }
  }
  running = false;
}

/** Run a script; return a promise if the next one has to wait for it. A script that throws does not stop the next. */
function run(script: HTMLScriptElement): Promise<void> | null {
  const given = waiting.get(script);
  if (given === undefined || !script.isConnected) {
    return null;
  }
  waiting.delete(script);
  if (given.src === null) {
    script.textContent = given.code;
    return null;
  }
  const blocks = !script.async && /^(|module|.*(java|ecma)script.*)$/i.test(script.type);
  const loaded = blocks ? loadOf(script) : null;
  script.src = given.src;
  return loaded;
}

function loadOf(script: HTMLScriptElement): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => resolve();
    script.addEventListener("load", done, { once: true });
    script.addEventListener("error", done, { once: true });
    setTimeout(done, MAX_WAIT_MS);
  });
}
