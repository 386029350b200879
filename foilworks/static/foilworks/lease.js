// A claim is a lease. [data-lease] counts it down and renews it while the page is looked at:
//   data-seconds-left, data-lease-seconds, data-heartbeat (URL), data-token
// Inside it, [data-lease-clock] shows minutes and seconds, and one [data-lease-when="held|low|lost|gone"] is visible at a time.
// The heartbeat answers {"seconds_left": n}; 409 or 410 say that the lease is gone: work can still be sent, it is kept as late.
// 404 says that the person has no part in the project any more, or not the role of this work: nothing is taken from them.
import { fresh, post } from "./dom.js";

const BEAT_SECONDS = 60;
const LOW_SECONDS = 120;

export function wireLeases(root) {
  for (const element of fresh(root, "[data-lease]", "Lease")) new Lease(element);
}

class Lease {
  constructor(element) {
    this.element = element;
    this.beatEvery = Math.min(BEAT_SECONDS, Number(element.dataset.leaseSeconds) / 3) * 1000;
    this.renew(Number(element.dataset.secondsLeft));
    this.lastBeat = performance.now();
    this.timer = setInterval(() => this.tick(), 1000);
    this.gone = new AbortController();
    document.addEventListener("visibilitychange", () => this.tick(), { signal: this.gone.signal });
    this.tick();
  }

  /** Seconds count from now by this machine's steady clock: its wall clock may be wrong or jump. */
  renew(seconds) {
    this.endsAt = performance.now() + seconds * 1000;
  }

  tick() {
    // Another card took the place of this one.
    if (!this.element.isConnected) {
      clearInterval(this.timer);
      this.gone.abort();
      return;
    }
    const left = Math.max(0, Math.round((this.endsAt - performance.now()) / 1000));
    const clock = this.element.querySelector("[data-lease-clock]");
    if (clock) clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    this.show(this.lost || (left === 0 ? "lost" : left <= LOW_SECONDS ? "low" : "held"));
    const due = performance.now() - this.lastBeat >= this.beatEvery;
    if (due && !this.lost && document.visibilityState === "visible") this.beat();
  }

  async beat() {
    this.lastBeat = performance.now();
    try {
      const answer = await post(this.element.dataset.heartbeat, { token: this.element.dataset.token });
      if (answer.ok) this.renew((await answer.json()).seconds_left);
      else if (answer.status === 409 || answer.status === 410) this.lose("lost");
      else if (answer.status === 404) this.lose("gone");
    } catch (error) {
      // No network: the countdown goes on and the next beat tries again.
      if (!(error instanceof TypeError)) throw error;
    }
    this.tick();
  }

  lose(state) {
    this.lost = state;
    clearInterval(this.timer);
  }

  show(state) {
    if (this.element.dataset.state === state) return;
    this.element.dataset.state = state;
    for (const part of this.element.querySelectorAll("[data-lease-when]")) part.hidden = !part.dataset.leaseWhen.split(" ").includes(state);
  }
}
