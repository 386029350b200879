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
    this.before = -1;
  }

  bin(frame) {
    return Math.floor((Math.min(Math.max(frame, 0), this.frames - 1) * this.bins.length) / this.frames);
  }

  /**
   * The browser showed this frame. `presented`: how many it showed since the last call; those that a busy page was not notified of were
   * the ones just before this one.
   */
  saw(frame, presented = 1) {
    const from = this.before < frame ? Math.max(this.before + 1, frame - presented + 1) : frame;
    this.bins.fill(1, this.bin(from), this.bin(frame) + 1);
    this.before = frame;
  }

  /** A seek: the next frame does not follow the last one. */
  moved() {
    this.before = Infinity;
  }

  /** Time passed while playing. */
  played(milliseconds) {
    this.seconds += Math.min(milliseconds, LONGEST_TICK_MS) / 1000;
  }

  /** The last frame stayed on the screen for its time. */
  held(milliseconds) {
    this.seconds += milliseconds / 1000;
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
