/** On a paired phone: notifications by web push, and links of notifications that lead to a question. */
import { button, make } from "../../nlui/dom";
import { type Fetch, reasonOf, sendJson } from "../client";
import "./phone.css";

/** What the server says about the phone that shows the page. */
export interface Device {
  readonly name: string;
  readonly push: boolean;
  readonly push_key: string;
}

const WORKER = "/service-worker.js";
const HOW =
  "Notifications go through the push service of your browser’s maker (Google, Apple, Mozilla or Microsoft). They are encrypted on your computer: the service sees when one is sent, not what it says. They name who asks, never what for.";
const NO_PUSH = "This browser gets no push messages. On an iPhone or iPad, add this page to the home screen, open it there and pair it again.";

/** A line that turns notifications of this phone on and off. */
export function deviceNotices(fetch: Fetch, device: Device): HTMLElement {
  const problem = make("p.phone-problem", { role: "alert" });
  const status = make("p.phone-status", { role: "status" });
  const on = button("Notify this phone", () => void turn(true), "ask-yes");
  const off = button("Turn notifications off", () => void turn(false), "ask-quiet");
  const about = make("p.phone-dim", {}, HOW);
  const element = make("section.phone-notices", { "aria-label": "Notifications" }, status, make("div.ask-row-of", {}, on, off), problem, about);

  function show(isOn: boolean): void {
    status.textContent = isOn ? "This phone is told of new questions." : "";
    on.hidden = isOn;
    off.hidden = !isOn;
  }

  async function turn(isOn: boolean): Promise<void> {
    problem.textContent = "";
    on.disabled = off.disabled = true;
    try {
      await (isOn ? subscribe(fetch, device.push_key) : unsubscribe(fetch));
      show(isOn);
    } catch (error) {
      problem.textContent = reasonOf(error);
    } finally {
      on.disabled = off.disabled = false;
    }
  }

  if ("serviceWorker" in navigator && "PushManager" in window) {
    void navigator.serviceWorker.register(WORKER).catch((error: unknown) => (problem.textContent = reasonOf(error)));
    show(device.push);
  } else {
    element.replaceChildren(make("p.phone-dim", {}, NO_PUSH));
  }
  return element;
}

async function subscribe(fetch: Fetch, key: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") {
    throw new Error("Your browser does not allow notifications for this page; its settings for the page change that.");
  }
  const { pushManager } = await navigator.serviceWorker.ready;
  // One for another key, as after the server's account changed, would get no messages.
  await (await pushManager.getSubscription())?.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  await sendJson(fetch, "/push", { endpoint, keys }, "PUT");
}

async function unsubscribe(fetch: Fetch): Promise<void> {
  const { pushManager } = await navigator.serviceWorker.ready;
  await sendJson(fetch, "/push", {}, "DELETE");
  await (await pushManager.getSubscription())?.unsubscribe();
}

/** Follow the link of a notification that was touched while the page was open; returns what ends that. */
export function followNotifications(): () => void {
  const follow = (event: MessageEvent<{ readonly link?: string }>): void => {
    if (event.data.link) {
      location.hash = event.data.link;
    }
  };
  const worker = "serviceWorker" in navigator ? navigator.serviceWorker : null;
  worker?.addEventListener("message", follow);
  return () => worker?.removeEventListener("message", follow);
}

/** Return the secret of a notification's link, and remove it from the address bar and the history. */
export function linkFromAddress(): string {
  const link = new URLSearchParams(location.hash.slice(1)).get("link") ?? "";
  if (link) {
    history.replaceState(null, "", location.pathname + location.search);
  }
  return link;
}

/** Ask which question a link is about; it works once and decides nothing. */
export async function questionOf(fetch: Fetch, link: string): Promise<string> {
  return (await sendJson<{ readonly id: string }>(fetch, "/notices/open", { link })).id;
}
