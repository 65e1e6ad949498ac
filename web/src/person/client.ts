/**
 * Requests in the name of the person. The credential lives in the storage of this origin and travels in a header, never
 * in a cookie: cookies are shared by all ports of a host, so a page of another port could use them.
 */

const KEY = "ui-person";

/** The server said no; `code` is its word for why. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Sends a request; resolves with an answer that is ok, throws `RequestError` otherwise. */
export type Fetch = (path: string, options?: RequestInit) => Promise<Response>;

export interface Person {
  readonly fetch: Fetch;
  credential(): string;
  /** Change a one-time code for the credential of this browser. */
  signIn(code: string): Promise<void>;
  /** Sign out: the credential ends on the server and here. */
  signOut(): Promise<void>;
  /** Call `listener` whenever the credential was refused or is gone, by whatever tab. */
  onSignedOut(listener: (why: string) => void): void;
}

export function personClient(fetcher: typeof fetch = (...request) => globalThis.fetch(...request)): Person {
  let kept = storedCredential();
  let nonce = document.querySelector<HTMLMetaElement>('meta[name="ui-nonce"]')?.content ?? "";
  const listeners: ((why: string) => void)[] = [];

  const signedOut = (why: string): void => {
    kept = "";
    storeCredential("");
    listeners.forEach((listener) => listener(why));
  };
  addEventListener("storage", (event) => {
    if (event.key === KEY) {
      kept = event.newValue ?? "";
      if (kept === "") {
        signedOut("You signed out in another tab.");
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

  const attempt: Fetch = async (path, options = {}) => {
    let answer = await send(path, options);
    const isStale = answer.status === 409 && (await errorOf(answer.clone())).code === "stale_page";
    if (isStale && (await renewed())) {
      answer = await send(path, options);
    }
    if (!answer.ok) {
      throw await errorOf(answer);
    }
    return answer;
  };

  const fetch: Fetch = async (path, options) => {
    const used = kept;
    try {
      return await attempt(path, options);
    } catch (error) {
      const unknown = error instanceof RequestError && error.status === 401 && error.code === "unauthorized";
      if (unknown && used && used === kept) {
        signedOut("This browser is no longer signed in.");
      }
      throw error;
    }
  };

  return {
    fetch,
    credential: () => kept,
    async signIn(code) {
      try {
        const { credential } = await sendJson<{ readonly credential: string }>(attempt, "/person/enter", { code });
        kept = credential;
        storeCredential(credential);
      } catch (error) {
        if (error instanceof RequestError && error.code === "stale_page") {
          reloadWith(code); // without a credential there is no other way to a new nonce
        }
        throw error;
      }
    },
    async signOut() {
      await sendJson(fetch, "/person/leave", {});
      signedOut("You are signed out.");
    },
    onSignedOut(listener) {
      listeners.push(listener);
    },
  };
}

/** Read JSON from a path. */
export async function readJson<T>(fetch: Fetch, path: string): Promise<T> {
  return (await (await fetch(path, { headers: { Accept: "application/json" } })).json()) as T;
}

/** Send JSON to a path and read what comes back. */
export async function sendJson<T>(fetch: Fetch, path: string, body: unknown, method = "POST"): Promise<T> {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return (await (await fetch(path, { method, headers, body: JSON.stringify(body) })).json()) as T;
}

/** Requests of a page that has a cookie or nothing: it may read. */
export const fetchAsVisitor: Fetch = async (path, options = {}) => {
  const answer = await globalThis.fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) {
    throw await errorOf(answer);
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
  if (error instanceof RequestError) {
    return error.message;
  }
  // fetch itself throws a TypeError whose words differ from browser to browser.
  return error instanceof TypeError ? "The server cannot be reached." : error instanceof Error ? error.message : String(error);
}

async function errorOf(answer: Response): Promise<RequestError> {
  const unreadable = new RequestError(answer.status, "error", `The server answered ${answer.status}.`);
  try {
    const { error } = (await answer.json()) as { readonly error?: string | { readonly code: string; readonly message: string } };
    if (error === undefined) {
      return unreadable;
    }
    return typeof error === "string" ? new RequestError(answer.status, "error", error) : new RequestError(answer.status, error.code, error.message);
  } catch {
    return unreadable;
  }
}

function storedCredential(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

function storeCredential(credential: string): void {
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
