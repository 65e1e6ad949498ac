/**
 * Theme and logo of all pages but the session's: the theme chosen in this browser, else by the system's preference.
 * A classic script, so that it runs before the first paint. Every `<select data-theme-switch>` becomes a switch.
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
  const link = (name) => {
    // A theme of the project, served on the same port.
    if (!NAMES.includes(name) && /^[\w-]+$/.test(name)) {
      document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/themes/${name}.css` }));
    }
  };
  let ofProject = null;
  const apply = () => {
    const name = stored() ?? ofProject ?? (night.matches ? "dark" : "light");
    root.classList.remove(...[...root.classList].filter((one) => one.startsWith("theme-")));
    root.classList.add(`theme-${name}`);
    root.classList.toggle("sl-theme-dark", DARK.includes(name));
    link(name);
    document.dispatchEvent(new CustomEvent("ui-look", { detail: { name } }));
  };
  const choose = (name) => {
    try {
      if (name === "auto") localStorage.removeItem("theme");
      else localStorage.setItem("theme", name);
    } catch {
      // Without storage the system's preference is used.
    }
    apply();
  };
  const fill = (select) => {
    const chosen = stored() ?? "auto";
    const names = [...new Set(["auto", ...NAMES, chosen])];
    select.replaceChildren(...names.map((name) => new Option(name[0].toUpperCase() + name.slice(1), name, false, name === chosen)));
    select.onchange = () => choose(select.value);
  };
  const mark = (home) => {
    home.innerHTML =
      '<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><rect x="2" y="2" width="7" height="7" rx="2"/><rect x="11" y="2" width="7" height="7" rx="2" opacity=".55"/><rect x="2" y="11" width="7" height="7" rx="2" opacity=".55"/><circle cx="14.5" cy="14.5" r="3.5"/></svg>';
  };
  night.addEventListener("change", apply);
  addEventListener("storage", apply);
  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("select[data-theme-switch]").forEach(fill);
    document.querySelectorAll(".page-home").forEach(mark);
  });
  window.uiLook = fill;
  window.uiTheme = choose;
  // The project's choice, for browsers without one of their own; only themes of ours, which cannot disguise a page.
  window.uiProjectTheme = (name) => {
    ofProject = NAMES.includes(name) ? name : null;
    apply();
  };
  window.uiMark = mark;
  apply();
})();
