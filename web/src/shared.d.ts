/** What /look/look.js leaves for the pages that build their own header. */
interface Window {
  /** Makes a theme switch of a select. */
  uiLook?: (select: HTMLSelectElement) => void;
  /** Draws our mark into an element. */
  uiMark?: (place: HTMLElement) => void;
}
