/** Functions of /look/look.js for the pages that build their own header. */
interface Window {
  /** Turns a select into a theme switch. */
  uiLook?: (select: HTMLSelectElement) => void;
  /** Draws the logo into an element. */
  uiMark?: (place: HTMLElement) => void;
  /** Chooses a theme for this browser. */
  uiTheme?: (name: string) => void;
  /** Names the project's theme, for browsers in which none was chosen. */
  uiProjectTheme?: (name: string) => void;
}
