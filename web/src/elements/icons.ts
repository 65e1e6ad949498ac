/** Drawings of the elements' buttons, in a square of 16. */
export const ICON = {
  calendar: "M3 4h10v9.5H3zM3 7h10M5.5 2.5V5M10.5 2.5V5",
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.2l2.2 1.4",
  close: "m4.5 4.5 7 7m0-7-7 7",
  copy: "M6 4.5h7v9H6zM3 11V2.5h7",
  down: "m4 6 4 4 4-4",
  eye: "M1.5 8s2.4-4.5 6.5-4.5S14.5 8 14.5 8 12.1 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  left: "m10 4-4 4 4 4",
  minus: "M4 8h8",
  plus: "M8 4v8M4 8h8",
  right: "m6 4 4 4-4 4",
  save: "M8 2v8m0 0 3-3m-3 3L5 7M2.5 13.5h11",
  upload: "M8 10.5v-8m0 0-3 3m3-3 3 3M2.5 13.5h11",
} as const;
