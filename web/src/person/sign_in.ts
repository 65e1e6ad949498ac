/** The screen that asks for a sign-in code and says how to get one. */
import { button, make } from "../nlui/dom";
import { isPhonePage, reasonOf } from "./client";
import "./sign_in.css";

const LENGTH = 16;
const MARK =
  '<svg viewBox="0 0 20 20" width="40" height="40" aria-hidden="true"><rect x="2" y="2" width="7" height="7" rx="2"/><rect x="11" y="2" width="7" height="7" rx="2" opacity=".55"/><rect x="2" y="11" width="7" height="7" rx="2" opacity=".55"/><circle cx="14.5" cy="14.5" r="3.5"/></svg>';

const COMPUTER = {
  title: "Confirm that it’s you",
  about: "Here you write to your agents and decide what they may do, so this page opens only for you. Enter the code that your terminal shows.",
  help: "No code, or an old one? This command prints a new link and code. Each works once and expires after ten minutes.",
  command: "ui-mcp open",
};
const PHONE = {
  title: "Pair this phone",
  about: "Here you answer your agents, so this page opens only on phones that you paired. Scan the code that your computer shows, or enter it.",
  help: "Your page on the computer shows a code under Inbox, Phones; so does this command. Each works once and expires after ten minutes.",
  command: "ui-mcp phone pair",
};

export interface SignInScreen {
  readonly element: HTMLElement;
  focus(): void;
}

/** Build the screen; `signIn` redeems a code, `problem` says why the user has to sign in. */
export function signInScreen(signIn: (code: string) => Promise<void>, problem = ""): SignInScreen {
  const field = make("input.entry-code", {
    id: "entry-code",
    autocomplete: "one-time-code",
    autocapitalize: "characters",
    spellcheck: "false",
    placeholder: "XXXX-XXXX-XXXX-XXXX",
    maxlength: "40",
    "aria-describedby": "entry-problem",
  });
  const message = make("p.entry-problem", { id: "entry-problem", role: "alert" }, problem);
  const go = make("button.entry-go", { type: "submit" }, "Continue");
  const inside = make("form.entry-form", {}, make("label", { for: "entry-code" }, "Code"), field, message, go);
  const mark = make("div.entry-mark");
  mark.innerHTML = MARK;
  field.addEventListener("input", () => {
    message.textContent = "";
    field.removeAttribute("aria-invalid");
    if (field.selectionStart === field.value.length) {
      field.value = grouped(field.value); // elsewhere the caret would jump to the end
    }
  });
  inside.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });

  async function submit(): Promise<void> {
    const code = grouped(field.value);
    if (code.replaceAll("-", "").length < LENGTH) {
      refuse("A code has 16 letters and digits.");
      return;
    }
    go.disabled = true;
    try {
      await signIn(code);
    } catch (error) {
      refuse(reasonOf(error));
    } finally {
      go.disabled = false;
    }
  }

  function refuse(why: string): void {
    message.textContent = why;
    field.setAttribute("aria-invalid", "true");
    field.select();
    field.focus();
  }

  const words = isPhonePage() ? PHONE : COMPUTER;
  const element = make(
    "main.entry",
    {},
    make(
      "div.entry-card",
      {},
      mark,
      make("h1", {}, words.title),
      make("p", {}, words.about),
      inside,
      make("div.entry-help", {}, make("p", {}, words.help), command(words.command)),
    ),
  );
  return { element, focus: () => field.focus() };
}

/** The screen shown while the page signs in or loads. */
export function waitingScreen(words: string): HTMLElement {
  return make("main.entry", {}, make("p.entry-waiting", { role: "status" }, words));
}

function command(text: string): HTMLElement {
  const copy = button("Copy", () => void navigator.clipboard.writeText(text).then(() => (copy.textContent = "Copied")), "entry-copy");
  return make("div.entry-command", {}, make("code", {}, text), copy);
}

/** Format a code as the terminal prints it: capitals, in groups of four. */
export function grouped(text: string): string {
  const plain = text.toUpperCase().replace(/[^A-Z0-9]/g, "").slice(0, LENGTH);
  return plain.replace(/(.{4})(?=.)/g, "$1-");
}
