/**
 * Requests in the name of the person. The credential lives in the storage of this origin and travels in a header, never
 * in a cookie: cookies are shared by all ports of a host, so a page of another port could use them.
 */

const KEY = "ui-person";

/** The server said no; `code` is its word for why. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Sends a request; resolves with an answer that is ok, throws `Refused` otherwise. */
export type Ask = (path: string, options?: RequestInit) => Promise<Response>;

export interface Person {
  readonly ask: Ask;
  credential(): string;
  /** Change a one-time code for the credential of this browser. */
  enter(code: string): Promise<void>;
  /** Sign out: the credential ends on the server and here. */
  leave(): Promise<void>;
  /** Call `listener` whenever the credential was refused or is gone, by whatever tab. */
  onLeft(listener: (why: string) => void): void;
}

export function personClient(fetcher: typeof fetch = (...request) => fetch(...request)): Person {
  let kept = stored();
  let nonce = document.querySelector<HTMLMetaElement>('meta[name="ui-nonce"]')?.content ?? "";
  const listeners: ((why: string) => void)[] = [];

  const left = (why: string): void => {
    kept = "";
    store("");
    listeners.forEach((listener) => listener(why));
  };
  addEventListener("storage", (event) => {
    if (event.key === KEY) {
      kept = event.newValue ?? "";
      if (kept === "") {
        left("You signed out in another tab.");
      }
    }
  });

  async function send(path: string, options: RequestInit): Promise<Response> {
    const headers = new Headers(options.headers);
    if (kept) {
      headers.set("X-UI-Person", kept);
    }
    if ((options.method ?? "GET") !== "GET") {
      headers.set("X-UI-Nonce", nonce);
    }
    return fetcher(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  }

  /** Get the nonce of the server as it runs now: it was started again since this page was loaded. */
  async function renewed(): Promise<boolean> {
    const answer = await send("/person/nonce", {});
    nonce = answer.ok ? ((await answer.json()) as { readonly nonce: string }).nonce : nonce;
    return answer.ok;
  }

  const attempt: Ask = async (path, options = {}) => {
    let answer = await send(path, options);
    const isStale = answer.status === 409 && (await refusal(answer.clone())).code === "stale_page";
    if (isStale && (await renewed())) {
      answer = await send(path, options);
    }
    if (!answer.ok) {
      throw await refusal(answer);
    }
    return answer;
  };

  const ask: Ask = async (path, options) => {
    const used = kept;
    try {
      return await attempt(path, options);
    } catch (error) {
      const unknown = error instanceof Refused && error.status === 401 && error.code === "unauthorized";
      if (unknown && used && used === kept) {
        left("This browser is no longer signed in.");
      }
      throw error;
    }
  };

  return {
    ask,
    credential: () => kept,
    async enter(code) {
      try {
        const { credential } = await sendJson<{ readonly credential: string }>(attempt, "/person/enter", { code });
        kept = credential;
        store(credential);
      } catch (error) {
        if (error instanceof Refused && error.code === "stale_page") {
          reloadWith(code); // without a credential there is no other way to a new nonce
        }
        throw error;
      }
    },
    async leave() {
      await sendJson(ask, "/person/leave", {});
      left("You are signed out.");
    },
    onLeft(listener) {
      listeners.push(listener);
    },
  };
}

/** Read JSON from a path. */
export async function readJson<T>(ask: Ask, path: string): Promise<T> {
  return (await (await ask(path, { headers: { Accept: "application/json" } })).json()) as T;
}

/** Send JSON to a path and read what comes back. */
export async function sendJson<T>(ask: Ask, path: string, body: unknown, method = "POST"): Promise<T> {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return (await (await ask(path, { method, headers, body: JSON.stringify(body) })).json()) as T;
}

/** Requests of a page that has a cookie or nothing: it may read. */
export const askAsVisitor: Ask = async (path, options = {}) => {
  const answer = await fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) {
    throw await refusal(answer);
  }
  return answer;
};

/** Take the code out of the address that a link brought; it leaves the address bar and the history at once. */
export function codeFromAddress(): string {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
  }
  return code;
}

function reloadWith(code: string): void {
  history.replaceState(null, "", `${location.pathname}${location.search}#${new URLSearchParams({ code })}`);
  location.reload();
}

/** Say in a sentence why something failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof Refused) {
    return error.message;
  }
  // fetch itself throws a TypeError whose words differ from browser to browser.
  return error instanceof TypeError ? "The server cannot be reached." : error instanceof Error ? error.message : String(error);
}

async function refusal(answer: Response): Promise<Refused> {
  const unreadable = new Refused(answer.status, "error", `The server answered ${answer.status}.`);
  try {
    const { error } = (await answer.json()) as { readonly error?: string | { readonly code: string; readonly message: string } };
    if (error === undefined) {
      return unreadable;
    }
    return typeof error === "string" ? new Refused(answer.status, "error", error) : new Refused(answer.status, error.code, error.message);
  } catch {
    return unreadable;
  }
}

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

function store(credential: string): void {
  try {
    if (credential) {
      localStorage.setItem(KEY, credential);
    } else {
      localStorage.removeItem(KEY);
    }
  } catch {
    // Without storage the credential lasts as long as the page.
  }
}
