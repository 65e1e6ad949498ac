// What the theme makes for code and tables, made fit for keyboards and screen readers.
new MutationObserver(() => {
  // Each copy button is in a navigation of its own, which would be listed as a landmark.
  for (const one of document.querySelectorAll(".md-code__nav:not([role])")) one.setAttribute("role", "none");
  // A table that scrolls must be reachable by Tab.
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
  }
}).observe(document.documentElement, { childList: true, subtree: true });

// Films follow the theme that the reader has chosen, and begin when they come into view, unless motion is unwanted.
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const visible = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    if (isIntersecting) {
      visible.unobserve(target); // a reader who stops it later has it stay so
      target.play().catch(() => undefined); // it can be started by hand
    }
  }
});

function choose(film) {
  const theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  const name = (innerWidth < 600 && film.dataset.phone) || `${film.dataset.film}-${theme}.webm`;
  if (film.getAttribute("src") === name) return;
  film.poster = name.replace(".webm", "-still.webp");
  film.src = name;
  if (!calm.matches) visible.observe(film);
}

const films = document.querySelectorAll("video.film");
films.forEach(choose);
if (films.length > 0) new MutationObserver(() => films.forEach(choose)).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
