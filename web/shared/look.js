/**
 * The look of the pages besides the app's: the theme that was chosen in this browser, else the system's.
 * A classic script, because it must run before the first paint; every `<select data-theme-switch>` becomes a switch,
 * and our mark is drawn into the link to the start page.
 */
(() => {
  const DARK = ["dark", "dusk"];
  const NAMES = ["dark", "dusk", "light", "meadow"];
  const root = document.documentElement;
  const night = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const own = (name) => {
    // A theme of the project: its file is on the port where it was chosen.
    if (!NAMES.includes(name) && /^[\w-]+$/.test(name)) {
      document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/themes/${name}.css` }));
    }
  };
  const dress = () => {
    const name = stored() ?? (night.matches ? "dark" : "light");
    root.classList.remove(...[...root.classList].filter((one) => one.startsWith("theme-")));
    root.classList.add(`theme-${name}`);
    root.classList.toggle("sl-theme-dark", DARK.includes(name));
    own(name);
    document.dispatchEvent(new CustomEvent("ui-look", { detail: { name } }));
  };
  const choose = (name) => {
    try {
      if (name === "auto") localStorage.removeItem("theme");
      else localStorage.setItem("theme", name);
    } catch {
      // Without storage the system decides.
    }
    dress();
  };
  const fill = (select) => {
    const chosen = stored() ?? "auto";
    const names = [...new Set(["auto", ...NAMES, chosen])];
    select.replaceChildren(...names.map((name) => new Option(name[0].toUpperCase() + name.slice(1), name, false, name === chosen)));
    select.onchange = () => choose(select.value);
  };
  const mark = (link) => {
    link.innerHTML =
      '<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><rect x="2" y="2" width="7" height="7" rx="2"/><rect x="11" y="2" width="7" height="7" rx="2" opacity=".55"/><rect x="2" y="11" width="7" height="7" rx="2" opacity=".55"/><circle cx="14.5" cy="14.5" r="3.5"/></svg>';
  };
  night.addEventListener("change", dress);
  addEventListener("storage", dress);
  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("select[data-theme-switch]").forEach(fill);
    document.querySelectorAll(".page-home").forEach(mark);
  });
  window.uiLook = fill;
  window.uiMark = mark;
  dress();
})();
