// What the theme makes for code and tables, made fit for keyboards and screen readers.
new MutationObserver(() => {
  // Each copy button is in a navigation of its own, which would be listed as a landmark.
  for (const one of document.querySelectorAll(".md-code__nav:not([role])")) one.setAttribute("role", "none");
  // A table that scrolls must be reachable by Tab.
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
  }
}).observe(document.documentElement, { childList: true, subtree: true });
