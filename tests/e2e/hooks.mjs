// The names through which the benchmarks reach the program. This is the only place that knows them; the
// README beside it says what each must do. It deliberately measures nothing.

/** Exports of the page's wasm, reached as `window.__hw_bench.<name>` on a page opened with `?bench`. */
export const HOOKS = {
  /** `(samples: number) => Float64Array`: seeks in a ten-minute run, milliseconds each. */
  seek: 'bench_seek',
  /** `(events: number) => number`: events a second. */
  events: 'bench_events',
  /** `() => number`: mebibytes of the page's memory with one simulated hour in it. */
  hour: 'bench_hour',
  /** `(at: number, frames: number) => Float64Array`: the views at a second of a run, first frame and average, in ms. */
  frame: 'bench_frame',
  /** `() => void`: starts the stage playing, with messages flying for at least ten seconds. */
  play: 'bench_play',
};

/** The element that holds the stage. */
export const STAGE = '#stage';

/** The native command's counterpart of `events`; prints one line of JSON `{"events_per_second": number}`. */
export const NATIVE = ['bench', '--json'];
