// When each frame of a clip begins and leaves the screen. Packed by media/clock.py, in whole microseconds; seconds outside of this file.

const MICROSECONDS = 1e6;
// Browsers round a frame's time, some to whole milliseconds.
const ROUNDING = 500;
// So far behind its beginning a frame is sought, or halfway if it is shorter: at its very edge the one before it could be shown.
const INSIDE = 20_000;

export class Clock {
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
export function evenClock(frames, fps) {
  return new Clock(Float64Array.from({ length: frames + 1 }, (_, frame) => Math.round((frame * MICROSECONDS) / fps)));
}

/** What media/clock.py packed: version, offset, first beginning, and the gaps between frames. */
export async function readClock(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const [, offset, ...edges] = new Float64Array(await new Response(stream).arrayBuffer());
  for (let at = 1; at < edges.length; at += 1) edges[at] += edges[at - 1];
  return new Clock(Float64Array.from(edges), offset);
}
