// [data-player]: frame-exact controls over a <video> that plays only its trim, and evidence of what was watched.
// Markup: templates/foilworks/_player.html. Which frame is on the screen is what the browser reports of each frame that it
// presents (requestVideoFrameCallback), read on the clip's clock.
import { clamp, fresh, remember, remembered } from "./dom.js";

// As the page's language writes them.
const SECONDS = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
const FALLBACK_FPS = 25;
const FALLBACK_SECONDS = 3600;
// A frame that was sought is presented by then, unless the page is hidden.
const PRESENTED_WITHIN_MS = 400;
const FIRST_SEEKS = 3;
// A seek that has not ended by then may never end; the page says so.
const SOUGHT_WITHIN_MS = 2000;
// Firefox before 132 does not say which frame is on the screen.
const canReport = "requestVideoFrameCallback" in HTMLVideoElement.prototype;

function wirePlayers(root) {
  for (const element of fresh(root, "[data-player]", "Player")) new Player(element);
}

class Player {
  constructor(element) {
    this.element = element;
    this.video = element.querySelector("video");
    this.mark = { a: null, b: null };
    this.target = null;
    this.onScreen = null;
    this.unreached = null;
    this.presented = 0;
    this.video.controls = false;
    this.video.muted = remembered("muted", "on") === "on";
    this.video.addEventListener("error", () => this.fail());
    if (this.video.error) this.fail();
    // Behind a content warning nothing is loaded before somebody asks for it, and nothing plays on once it is closed.
    element.closest("details.player-gate")?.addEventListener("toggle", ({ target }) => this.gate(target.open));
    if (this.video.readyState >= HTMLMediaElement.HAVE_METADATA) this.start();
    else this.video.addEventListener("loadedmetadata", () => this.start(), { once: true });
  }

  part(name) {
    return this.element.querySelector(`[data-player-${name}]`);
  }

  gate(isOpen) {
    if (!isOpen) this.video.pause();
    else if (this.video.preload === "none") {
      this.video.preload = "auto";
      this.video.load();
    }
  }

  fail() {
    // Only the first reason counts: a message that changes is harder to act on.
    if (this.element.dataset.state === "failed") return;
    this.element.dataset.state = "failed";
    const words = this.part("error");
    words.querySelector("[data-old]").hidden = canReport;
    words.querySelector("[data-new]").hidden = !canReport;
    words.hidden = false;
    this.part("controls").hidden = true;
  }

  /** The clip's clock; an address elsewhere has none, and its frames are guessed from its duration. */
  async readClock() {
    const { times, first, last, start, end, guessed } = this.element.dataset;
    // Of a guessed clock, the frame that was sought counts as shown: what the browser reports would be of another clock.
    this.isExact = Boolean(times) && guessed === undefined;
    if (times) {
      this.clock = await readClock(times);
      [this.first, this.last] = [Number(first), Number(last)];
      return;
    }
    const seconds = Number.isFinite(this.video.duration) ? this.video.duration : FALLBACK_SECONDS;
    this.clock = evenClock(Math.max(1, Math.round(seconds * FALLBACK_FPS)), FALLBACK_FPS);
    this.first = this.clock.frameAt(Number(start || 0));
    this.last = Math.max(this.first, this.clock.frameAt(Number(end || Infinity) - 0.5 / FALLBACK_FPS));
  }

  async start() {
    // If only the sound can be decoded, browsers play that and report no error.
    if (!canReport || !this.video.videoWidth) {
      this.fail();
      return;
    }
    await this.readClock();
    this.watch = new Watch(this.last - this.first + 1);
    this.wire();
    this.setSpeed(Number(remembered("speed", "1")));
    this.setLoop(remembered("loop", "on") === "on");
    this.setMuted(this.video.muted);
    this.part("scrub").max = String(this.last - this.first);
    this.video.requestVideoFrameCallback((now, picture) => this.presents(picture));
    await this.seek(this.first);
    // A busy browser may keep what it showed before the seek; asked again, it presents the frame.
    for (let tries = 1; tries < FIRST_SEEKS && !this.isInTrim() && document.visibilityState === "visible"; tries += 1) {
      await this.seek(this.first);
    }
    this.element.dataset.ready = "yes";
    if (this.startsAlone()) this.play();
  }

  /** The browser has put a frame on the screen. */
  presents({ mediaTime, presentedFrames }) {
    this.video.requestVideoFrameCallback((now, picture) => this.presents(picture));
    const count = presentedFrames - this.presented;
    this.presented = presentedFrames;
    this.onScreen = this.isExact ? this.clock.frameAt(mediaTime) : (this.target ?? this.clock.frameAt(this.video.currentTime));
    if (this.isInTrim() && document.visibilityState === "visible") this.watch.saw(this.onScreen - this.first, this.video.paused ? 1 : count);
    this.notifyPresented?.();
    if (!this.video.paused && this.onScreen >= this.range()[1]) this.turn();
    this.show();
  }

  isInTrim() {
    return this.onScreen !== null && this.onScreen >= this.first && this.onScreen <= this.last;
  }

  startsAlone() {
    return "autoplay" in this.element.dataset && this.video.muted && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  wire() {
    const press = {
      toggle: () => (this.wanted || this.rewinding ? this.pause() : this.play()),
      back: () => this.step(-1),
      next: () => this.step(1),
      rewind: () => this.rewind(),
      forward: () => this.forward(),
      slower: () => this.changeSpeed(-1),
      faster: () => this.changeSpeed(1),
      a: () => this.setMark("a"),
      b: () => this.setMark("b"),
      clear: () => this.clearMarks(),
      loop: () => this.setLoop(!this.looping),
      mute: () => this.setMuted(!this.video.muted),
      full: () => (document.fullscreenElement ? document.exitFullscreen() : this.element.requestFullscreen()),
    };
    for (const button of this.element.querySelectorAll("[data-player-do]")) button.addEventListener("click", press[button.dataset.playerDo]);
    this.video.addEventListener("click", press.toggle);
    this.part("tools")?.addEventListener("click", ({ currentTarget }) => {
      currentTarget.setAttribute("aria-expanded", String(this.element.toggleAttribute("data-unfolded")));
    });
    this.part("scrub").addEventListener("input", (event) => this.jump(this.first + Number(event.target.value)));
    this.wireSpeed(this.part("speed"));
    this.video.addEventListener("play", () => this.playing());
    this.video.addEventListener("seeked", () => (this.part("late").hidden = true));
    for (const type of ["pause", "seeked"]) this.video.addEventListener(type, () => this.show());
    this.video.addEventListener("ended", () => this.turn());
    const form = document.getElementById(this.element.dataset.evidenceFor || "");
    form?.addEventListener("formdata", (event) => this.watch.writeInto(event.formData));
  }

  wireSpeed(select) {
    let byPointer = false;
    select.addEventListener("pointerdown", () => (byPointer = true));
    select.addEventListener("keydown", () => (byPointer = false));
    select.addEventListener("change", () => {
      this.setSpeed(Number(select.value));
      // A list that keeps the focus after a click would swallow the keys of the page.
      if (byPointer) select.blur();
    });
  }

  frame() {
    return this.target ?? clamp(this.onScreen ?? this.first, this.first, this.last);
  }

  /** Start and end of what plays: the A-B loop where both ends are set, else the trim. */
  range() {
    const { a, b } = this.mark;
    return a !== null && b !== null && a < b ? [a, b] : [this.first, this.last];
  }

  /** Resolves when the frame is shown. A seek that comes while another is on its way replaces it. */
  async seek(frame) {
    this.target = clamp(frame, this.first, this.last);
    this.turning = null;
    this.show();
    if (this.seeking) return this.seeking;
    this.seeking = (async () => {
      while (this.target !== null) {
        const wanted = this.target;
        await this.sought(wanted);
        if (this.target === wanted) this.target = null;
      }
      this.seeking = null;
      this.show();
    })();
    return this.seeking;
  }

  async sought(frame) {
    const seeked = new Promise((resolve) => this.video.addEventListener("seeked", resolve, { once: true }));
    this.watch.moved();
    this.video.currentTime = this.clock.inside(frame);
    const isLate = await Promise.race([seeked.then(() => false), pauseFor(SOUGHT_WITHIN_MS).then(() => true)]);
    this.part("late").hidden = !isLate;
    if (isLate) return;
    // Presented before or after this event.
    if (this.onScreen !== frame) {
      const presented = new Promise((resolve) => (this.notifyPresented = () => this.onScreen === frame && resolve()));
      await Promise.race([presented, pauseFor(PRESENTED_WITHIN_MS)]);
      this.notifyPresented = null;
    }
    if (!this.isExact) this.onScreen = frame;
    this.unreached = this.onScreen === frame ? null : frame;
  }

  jump(frame) {
    this.pause();
    return this.seek(frame);
  }

  step(by) {
    const from = this.frame();
    this.pause();
    // A frame that this browser cannot show does not end the steps.
    const next = from + by === this.unreached ? from + 2 * by : from + by;
    return this.seek(next);
  }

  async play() {
    this.rewinding = false;
    this.turning = null;
    this.wanted = true;
    const [from, to] = this.range();
    if (this.frame() >= to || this.frame() < from) await this.seek(from);
    await this.run();
  }

  async run() {
    // Another card may have taken the place of this one meanwhile.
    if (!this.wanted || !this.element.isConnected) return;
    try {
      await this.video.play();
    } catch (error) {
      // The browser wants a gesture first, or a pause came before the first frame.
      if (!(error instanceof DOMException)) throw error;
      this.wanted = !this.video.paused;
      this.show();
    }
  }

  pause() {
    this.rewinding = this.wanted = false;
    this.turning = null;
    this.video.pause();
    this.show();
  }

  forward() {
    if (this.wanted) this.changeSpeed(1);
    else this.play();
  }

  /** Backwards, frame by frame at the chosen speed: browsers do not play in reverse. */
  async rewind() {
    if (this.rewinding) return;
    this.pause();
    this.rewinding = true;
    const me = (this.rewindTurn = {});
    while (this.rewinding && this.rewindTurn === me && this.element.isConnected) {
      const began = performance.now();
      const [from, to] = this.range();
      if (this.frame() <= from && !this.looping) break;
      await this.seek(this.frame() <= from ? to : this.frame() - 1);
      this.watch.played(performance.now() - began);
      const frame = this.frame();
      const length = 1000 * (this.clock.end(frame) - this.clock.begin(frame));
      await pauseFor(length / this.video.playbackRate - (performance.now() - began));
    }
    if (this.rewindTurn === me) this.rewinding = false;
    this.show();
  }

  playing() {
    let before = performance.now();
    const me = (this.tickTurn = {});
    const tick = (now) => {
      if (this.tickTurn !== me || this.video.paused) return;
      if (document.visibilityState === "visible") this.watch.played(now - before);
      before = now;
      // If the last frame was dropped, nothing reports it.
      if (this.video.currentTime >= this.clock.leaves(this.range()[1])) this.turn();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** The last frame is on the screen: it stays for its time, paused so that the next one never flashes up; then round again. */
  async turn() {
    if (this.turning) return;
    const me = (this.turning = {});
    const [from, to] = this.range();
    const rest = Math.max(0, (1000 * (this.clock.leaves(to) - this.video.currentTime)) / this.video.playbackRate);
    this.video.pause();
    this.watch.loops += 1;
    await pauseFor(rest);
    // Meanwhile somebody paused, or went elsewhere.
    if (this.turning !== me) return;
    if (document.visibilityState === "visible") this.watch.held(rest);
    this.turning = null;
    if (!this.wanted) return;
    this.wanted = this.looping;
    await this.seek(this.looping ? from : to);
    await this.run();
  }

  setMark(end) {
    this.mark[end] = this.frame();
    if (this.mark.a !== null && this.mark.b !== null && this.mark.a >= this.mark.b) this.mark[end === "a" ? "b" : "a"] = null;
    if (this.mark.a !== null && this.mark.b !== null) this.setLoop(true);
    this.show();
  }

  clearMarks() {
    this.mark = { a: null, b: null };
    this.show();
  }

  setSpeed(speed) {
    this.video.playbackRate = SPEEDS.includes(speed) ? speed : 1;
    this.part("speed").value = String(this.video.playbackRate);
    remember("speed", String(this.video.playbackRate));
  }

  changeSpeed(by) {
    const at = SPEEDS.indexOf(this.video.playbackRate);
    this.setSpeed(SPEEDS[clamp(at + by, 0, SPEEDS.length - 1)]);
  }

  setLoop(on) {
    this.looping = on;
    this.pressed("loop", on);
    remember("loop", on ? "on" : "off");
  }

  setMuted(on) {
    this.video.muted = on;
    this.pressed("mute", on);
    remember("muted", on ? "on" : "off");
  }

  pressed(name, on) {
    this.element.querySelector(`[data-player-do="${name}"]`)?.setAttribute("aria-pressed", String(on));
  }

  show() {
    const [frame, count] = [this.frame() - this.first, this.last - this.first + 1];
    const begin = this.clock.begin(this.first);
    // What is on the screen, while a seek is on its way as well.
    const screen = clamp(this.onScreen ?? this.first, this.first, this.last);
    const seconds = SECONDS.format(this.clock.begin(screen) - begin);
    // The frame that is on the screen for sure; nothing while a seek is on its way.
    this.element.dataset.shown = this.target === null ? String(frame) : "";
    const scrub = this.part("scrub");
    scrub.value = String(frame);
    scrub.setAttribute("aria-valuetext", `${screen - this.first + 1} / ${count}, ${seconds} s`);
    this.part("time").textContent = `${seconds} / ${SECONDS.format(this.clock.end(this.last) - begin)} s`;
    this.part("frame").textContent = `${screen - this.first + 1} / ${count}`;
    const active = Boolean(this.wanted || this.rewinding);
    this.element.dataset.state = active ? "playing" : "paused";
    this.pressed("toggle", active);
    this.showMarks(count);
  }

  showMarks(count) {
    const { a, b } = this.mark;
    this.pressed("a", a !== null);
    this.pressed("b", b !== null);
    this.element.querySelector('[data-player-do="clear"]').hidden = a === null && b === null;
    const band = this.part("band");
    band.hidden = a === null && b === null;
    const [from, to] = [(a ?? this.first) - this.first, (b ?? this.last) - this.first];
    band.style.insetInlineStart = `${(100 * from) / count}%`;
    band.style.width = `${(100 * (to - from + 1)) / count}%`;
  }
}

function pauseFor(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
}

// When each frame of a clip begins and leaves the screen. Packed by foilworks/core/media/clock.py, in whole microseconds; seconds outside of this file.

const MICROSECONDS = 1e6;
// Browsers round a frame's time, some to whole milliseconds.
const ROUNDING = 500;
// So far behind its beginning a frame is sought, or halfway if it is shorter: at its very edge the one before it could be shown.
const INSIDE = 20_000;

class Clock {
  /** `edges`: beginnings of the frames and the end of the last one; `offset`: what `currentTime` shows at 0. */
  constructor(edges, offset = 0) {
    this.edges = edges;
    this.offset = offset;
    this.frames = edges.length - 1;
    const shortest = edges.slice(1).reduce((least, edge, at) => Math.min(least, edge - edges[at]), Infinity);
    this.rounding = Math.min(ROUNDING, shortest / 2);
  }

  begin(frame) {
    return this.edges[frame] / MICROSECONDS;
  }

  end(frame) {
    return this.edges[frame + 1] / MICROSECONDS;
  }

  /** The `currentTime` at which the frame is on the screen. */
  inside(frame) {
    const length = this.edges[frame + 1] - this.edges[frame];
    return (this.edges[frame] + Math.min(length / 2, INSIDE) + this.offset) / MICROSECONDS;
  }

  /** The `currentTime` at which the frame leaves the screen. */
  leaves(frame) {
    return (this.edges[frame + 1] + this.offset) / MICROSECONDS;
  }

  /** The frame on screen at a `currentTime` or `mediaTime`: the last one that begins by then. */
  frameAt(seconds) {
    const moment = seconds * MICROSECONDS - this.offset + this.rounding;
    let [low, high] = [0, this.frames - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.edges[middle] <= moment) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The clock of a constant rate. */
function evenClock(frames, fps) {
  return new Clock(Float64Array.from({ length: frames + 1 }, (_, frame) => Math.round((frame * MICROSECONDS) / fps)));
}

/** What foilworks/core/media/clock.py packed: version, offset, first beginning, and the gaps between frames. */
async function readClock(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const [, offset, ...edges] = new Float64Array(await new Response(stream).arrayBuffer());
  for (let at = 1; at < edges.length; at += 1) edges[at] += edges[at - 1];
  return new Clock(Float64Array.from(edges), offset);
}

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

wirePlayers(document);
for (const swapped of ["htmx:load", "foilworks:load"]) document.addEventListener(swapped, (event) => wirePlayers(event.target));
