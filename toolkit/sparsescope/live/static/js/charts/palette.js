// Colours, as sparsescope.views.style has them: they come with the problem, so that figures and page agree.

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// Until the first problem has come: plain ink on paper, so that the page is legible from the start.
const START = {
  themes: {
    light: { paper: "#ffffff", grid: "#e4e8ed", axis: "#8a94a1", text: "#1c2430", muted: "#596472", ink: "#1c2430", blue: "#0072b2", vermillion: "#d55e00", kept: "#c3ccd6", worked: "#cfe4f5" },
    dark: { paper: "#14181d", grid: "#29313a", axis: "#6f7a87", text: "#e8ecf1", muted: "#a9b2bd", ink: "#e8ecf1", blue: "#4ba3dc", vermillion: "#ec7d35", kept: "#46515d", worked: "#1a3a56" },
  },
  diverging: { light: ["#084a86", "#f6f7f9", "#9c4300"], dark: ["#9bd0fa", "#1d232b", "#ffc68a"] },
};

export class Palette {
  constructor(theme) {
    this.source = START;
    this.setTheme(theme);
  }

  use(source) {
    if (source && source.themes) this.source = source;
    this.setTheme(this.theme);
  }

  setTheme(theme) {
    this.theme = theme === "dark" ? "dark" : "light";
    this.colours = this.source.themes[this.theme];
    this.lut = signedTable(this.source.diverging[this.theme], 0.06, 0.75);
    this.strong = signedTable(this.source.diverging[this.theme], 0.3, 0.5);
  }

  colour(name) {
    return this.colours[name] || this.colours.ink;
  }

  /** Packed pixel (little endian RGBA) of an int8 cell; `strong`: where few cells are lit, so that each can be seen. */
  pixel(cell, strong = false) {
    return (strong ? this.strong : this.lut)[cell + 128];
  }
}

export function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export function pack([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** 256 pixels for cells -128 … 127. A small value is already `step` away from zero, so that a non-zero row shows. */
function signedTable(stops, step, power) {
  const colours = stops.map(rgb);
  const table = new Uint32Array(256);
  for (let cell = -128; cell < 128; cell++) {
    const size = Math.abs(cell) / 127;
    const lifted = cell === 0 ? 0 : Math.sign(cell) * (step + (1 - step) * Math.min(1, size) ** power);
    const at = ((lifted + 1) / 2) * (colours.length - 1);
    const low = Math.min(colours.length - 2, Math.floor(at));
    const part = at - low;
    table[cell + 128] = pack(colours[low].map((c, k) => Math.round(c + part * (colours[low + 1][k] - c))));
  }
  return table;
}
