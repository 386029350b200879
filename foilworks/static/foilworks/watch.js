// Evidence of watching: seconds played, times the end was reached, share of the clip's frames that were shown.

const MAX_BINS = 2000;
// A longer gap between two ticks is a tab that slept, not a person who watched.
const LONGEST_TICK_MS = 500;

export class Watch {
  constructor(frames) {
    this.frames = Math.max(1, frames);
    this.bins = new Uint8Array(Math.min(this.frames, MAX_BINS));
    this.seconds = 0;
    this.loops = 0;
    this.before = null;
  }

  bin(frame) {
    return Math.floor((Math.min(Math.max(frame, 0), this.frames - 1) * this.bins.length) / this.frames);
  }

  /** One frame was shown. */
  see(frame) {
    this.bins[this.bin(frame)] = 1;
    this.before = frame;
  }

  /** Time passed while playing; with `frame`, all frames since the last tick were shown (playing forwards skips none). */
  played(milliseconds, frame) {
    this.seconds += Math.min(milliseconds, LONGEST_TICK_MS) / 1000;
    if (frame === undefined) return;
    const from = this.before !== null && this.before <= frame && milliseconds <= LONGEST_TICK_MS ? this.before : frame;
    this.bins.fill(1, this.bin(from), this.bin(frame) + 1);
    this.before = frame;
  }

  covered() {
    return this.bins.reduce((sum, bin) => sum + bin, 0) / this.bins.length;
  }

  writeInto(data) {
    data.set("watch_seconds", this.seconds.toFixed(2));
    data.set("watch_loops", String(this.loops));
    data.set("watch_covered", this.covered().toFixed(4));
  }
}
