// "Watch features come in": λ falls from λ_max in about ten seconds while the solver follows.

const SECONDS = 10;
const LAST = 0.05; // of λ_max
const SMOOTH_STEP = 125; // ms between two values of λ
const CALM_STEP = 1000; // the same for people who want little motion

/** λ as a share of λ_max after a part (0 … 1) of the time: every second the same factor. */
export function ratioAt(part) {
  return LAST ** Math.min(1, Math.max(0, part));
}

export class Watch {
  constructor(page) {
    this.page = page;
    this.timer = 0;
  }

  get running() {
    return this.timer !== 0;
  }

  start() {
    const { page } = this;
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const began = performance.now();
    this.stop();
    page.setLam(1, false);
    page.link.do("run");
    this.timer = setInterval(() => {
      const part = (performance.now() - began) / (1000 * SECONDS);
      page.setLam(ratioAt(part), false);
      if (part >= 1) this.stop();
    }, calm ? CALM_STEP : SMOOTH_STEP);
    this.began = false;
  }

  /** Somebody paused, or took λ in hand. */
  stop() {
    clearInterval(this.timer);
    this.timer = 0;
  }

  follow(store) {
    if (!this.running) return;
    if (store.playing) this.began = true;
    else if (this.began && store.mode === "paused") this.stop();
  }
}
