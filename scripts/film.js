// What film.py has a browser do: show the person's pointer on a page that is filmed, and encode the frames on another.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  let pointer = null;

  // A sheet that is adopted is no business of the page's security policy, unlike an element with styles.
  const STYLE = `
    .film-pointer { position: fixed; inset: 0 auto auto 0; overflow: visible; margin: 0; padding: 0; border: 0; background: none; pointer-events: none; transition: translate .5s cubic-bezier(.3,.1,.2,1); }
    .film-pointer svg { display: block; width: 24px; height: 24px; filter: drop-shadow(0 1px 2px rgb(0 0 0 / .4)); }
    .film-pointer span { position: absolute; left: 17px; top: 19px; padding: 1px 8px; border-radius: 99px; background: #14181f; color: #fff; font: 600 12px/1.6 system-ui, sans-serif; box-shadow: 0 0 0 1px #fff9; }
    .film-pointer i { position: absolute; left: -13px; top: -13px; width: 30px; height: 30px; border-radius: 50%; background: #e8590c; opacity: 0; }
    .film-press i { animation: film-press .5s ease-out; }
    @keyframes film-press { from { opacity: .6; scale: .2; } to { opacity: 0; scale: 1.6; } }`;

  function made() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    document.adoptedStyleSheets.push(sheet);
    const path = document.createElementNS(SVG, "path");
    for (const [name, value] of [["d", "M3 2l0 17 4.6-4.2 3 6.4 2.8-1.3-3-6.3 6.3-.4z"], ["fill", "#14181f"], ["stroke", "#fff"], ["stroke-width", "1.6"], ["stroke-linejoin", "round"]]) path.setAttribute(name, value);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.append(path);
    const name = document.createElement("span");
    name.textContent = "You";
    const box = document.createElement("div");
    box.className = "film-pointer";
    box.popover = "manual"; // above dialogs too
    box.ariaHidden = "true";
    box.append(document.createElement("i"), svg, name);
    box.style.translate = `${innerWidth * 0.6}px ${innerHeight}px`;
    document.documentElement.append(box);
    return box;
  }

  window.filmPoint = (x, y) => {
    pointer ??= made();
    if (pointer.matches(":popover-open")) pointer.hidePopover();
    pointer.showPopover();
    pointer.getBoundingClientRect(); // the movement begins where it was
    pointer.style.translate = `${x}px ${y}px`;
  };
  window.filmPlace = () => pointer.style.translate.split(" ").map(parseFloat);
  window.filmPress = () => {
    pointer.classList.remove("film-press");
    pointer.getBoundingClientRect(); // starts the animation again
    pointer.classList.add("film-press");
  };
  window.filmHide = () => pointer?.hidePopover();

  const base64 = (bytes) => btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));

  async function drawn(png) {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const even = (length) => length - (length % 2); // what video needs
    const canvas = new OffscreenCanvas(even(bitmap.width), even(bitmap.height));
    const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    return [canvas, context];
  }

  async function webp(canvas, quality) {
    const blob = await canvas.convertToBlob({ type: "image/webp", quality });
    return new Uint8Array(await blob.arrayBuffer());
  }

  window.filmStill = async (png, quality) => base64(await webp((await drawn(png))[0], quality));

  let before = null;

  /** The rectangle in which the picture differs from the one before; its left and top are even, as WebP wants them. */
  function changed(now, { width, height }) {
    let [left, top, right, bottom] = [width, height, 0, 0];
    for (let at = 0; at < now.length; at++) {
      if (before === null || now[at] !== before[at]) {
        const x = at % width, y = (at - x) / width;
        left = Math.min(left, x), right = Math.max(right, x + 1);
        top = Math.min(top, y), bottom = Math.max(bottom, y + 1);
      }
    }
    return [left - (left % 2), top - (top % 2), right, bottom];
  }

  /** The picture, transparent where it is as before: what is equal costs next to nothing in a format without loss. */
  function difference(now, { width, height }) {
    const canvas = new OffscreenCanvas(width, height);
    const pixels = new Uint32Array(now.length);
    for (let at = 0; at < now.length; at++) pixels[at] = before !== null && now[at] === before[at] ? 0 : now[at];
    canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), 0, 0);
    return canvas;
  }

  function cut(canvas, [left, top, right, bottom]) {
    const part = new OffscreenCanvas(right - left, bottom - top);
    part.getContext("2d").drawImage(canvas, -left, -top);
    return part;
  }

  /** The size of the picture, and what changes in it as WebP, without loss unless that takes much more. */
  window.filmPatch = async (png, quality, worth) => {
    const [canvas, context] = await drawn(png);
    const now = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const [left, top, right, bottom] = changed(now, canvas);
    const size = [canvas.width, canvas.height];
    if (right <= left) return [size, null];
    const box = [left, top, right, bottom];
    const exact = await webp(cut(difference(now, canvas), box), 1);
    const small = await webp(cut(canvas, box), quality);
    before = now;
    const best = exact.length <= worth * small.length ? exact : small;
    return [size, [left, top, right - left, bottom - top, base64(best)]];
  };

  const KEY_FRAMES_MS = 15000;
  const chunks = [];
  let encoder = null, failure = null, lastKey = -Infinity;

  function opened({ width, height }, bitrate) {
    const output = (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      chunks.push([chunk.timestamp / 1000, chunk.type === "key", base64(bytes)]);
    };
    const made = new VideoEncoder({ output, error: (error) => (failure = error) });
    made.configure({ codec: "vp09.00.31.08", width, height, bitrate, latencyMode: "quality" });
    return made;
  }

  window.filmFrame = async (png, at, bitrate) => {
    const [canvas] = await drawn(png);
    encoder ??= opened(canvas, bitrate);
    const keyFrame = at - lastKey > KEY_FRAMES_MS;
    if (keyFrame) lastKey = at;
    const frame = new VideoFrame(canvas, { timestamp: at * 1000 });
    encoder.encode(frame, { keyFrame });
    frame.close();
  };
  window.filmChunks = async () => {
    await encoder.flush();
    if (failure) throw failure;
    return chunks;
  };
})();
