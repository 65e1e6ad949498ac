/**
 * The service worker of the person's page on a phone: shows push messages, and keeps files of the page. It never answers
 * a request for data, and nothing can be decided in a notification.
 */
const FILES = "ui-mcp-files";
const IS_FILE = /^\/person\/assets\/[^/]+-[\w-]{8}\.(?:js|css)$/; // named by their contents

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method === "GET" && url.origin === self.location.origin && IS_FILE.test(url.pathname)) {
    event.respondWith(fileOf(event.request));
  }
});

/** @param {Request} request */
async function fileOf(request) {
  const cache = await caches.open(FILES);
  const kept = await cache.match(request);
  if (kept) {
    return kept;
  }
  const answer = await fetch(request);
  if (answer.ok) {
    await cache.put(request, answer.clone());
  }
  return answer;
}

self.addEventListener("push", (event) => {
  const { title = "ui-mcp", body = "Somebody waits for your answer", link = "", tag = "" } = messageOf(event.data);
  const icon = "/person/assets/icon-192.png";
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon, badge: icon, data: { link } }));
});

/** A message that cannot be read still makes a notification. */
function messageOf(data) {
  try {
    return data.json();
  } catch {
    return {};
  }
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.link ?? ""));
});

/** Open the page at a question, in the window that is open already if there is one. */
async function open(link) {
  const own = new URL("/inbox", self.location.origin);
  own.hash = link && new URL(link, own).origin === own.origin ? new URL(link, own).hash : "";
  const [window] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (window) {
    window.postMessage({ link: own.hash });
    await window.focus();
  } else {
    await self.clients.openWindow(own.href);
  }
}
