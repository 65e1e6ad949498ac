/** Puts off what a page does not need until its app is shown and may be used. */

const QUIET_MS = 1000;
/** An app that shows nothing is waited for no longer than this. */
const LONGEST_MS = 10_000;

/** Call `act` a second after `root` has got its first content. */
export function whenShown(root: Element, act: () => void): void {
  let waits = true;
  const later = (): void => {
    if (waits) {
      waits = false;
      setTimeout(act, QUIET_MS);
    }
  };
  new MutationObserver((_, self) => {
    self.disconnect();
    later();
  }).observe(root, { childList: true });
  setTimeout(later, LONGEST_MS);
}
