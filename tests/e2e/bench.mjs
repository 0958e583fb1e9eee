// The figures of the release build beside their budgets: `cargo xtask bench`. A figure whose hook does not
// exist yet is said to be not available. It deliberately draws no conclusion beyond over or within budget.

import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { ROOT, launch, serve } from './harness.mjs';
import { HOOKS, NATIVE, STAGE } from './hooks.mjs';

const SEEKS = 60;
const EVENTS = 500_000;
const FRAMES = 240;
const WARM_UP = 60;

const rows = [];
let over = 0;

/** Adds a line; `value` null means that the hook is not there. */
function row(name, value, unit, budget) {
  const late = value !== null && budget !== undefined && value > budget;
  over += late ? 1 : 0;
  const figure = () => `${value.toLocaleString('en', { maximumFractionDigits: 2 })} ${unit}`;
  const shown = value === null ? 'not available' : figure();
  const limit = budget === undefined ? '' : `${budget.toLocaleString('en')} ${unit}`;
  rows.push([name, shown, limit, value === null || budget === undefined ? '' : late ? 'OVER' : 'ok']);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function firstView(url, page) {
  const paths = await page.evaluate(() =>
    performance.getEntriesByType('resource').map((entry) => new URL(entry.name).pathname),
  );
  const files = new Set(paths.filter((path) => !path.startsWith('/~')).map((path) => path.slice(1)));
  files.add('index.html');
  let program = 0;
  let rest = 0;
  for (const file of files) {
    const path = `${ROOT}dist/${file}`;
    if (!(await stat(path).catch(() => null))?.isFile()) continue;
    const body = await readFile(path);
    const size = brotliCompressSync(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }).length;
    if (/^highwater-page(_bg\.wasm|\.js)$/.test(file)) program += size;
    else rest += size;
  }
  row('first view, brotli: wasm and its bindings', program / 1000, 'kB', 625);
  row('first view, brotli: HTML, styles, loader', rest / 1000, 'kB', 15);
  row('first view, brotli: all', (program + rest) / 1000, 'kB', 640);
}

/** Script time a frame over FRAMES frames, from the browser's own counters. */
async function frames(page, session) {
  const metric = async (name) => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((entry) => entry.name === name).value;
  };
  const pass = (count) =>
    page.evaluate((n) => new Promise((done) => {
      const next = () => (n-- > 0 ? requestAnimationFrame(next) : done());
      next();
    }), count);
  await session.send('Performance.enable');
  await pass(WARM_UP);
  const [script, task] = [await metric('ScriptDuration'), await metric('TaskDuration')];
  await pass(FRAMES);
  const each = (1000 * ((await metric('ScriptDuration')) - script)) / FRAMES;
  const whole = (1000 * ((await metric('TaskDuration')) - task)) / FRAMES;
  return { each, whole };
}

const { child, url } = await serve();
child.removeAllListeners('exit');
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${url}?bench`);
  await page.waitForFunction(() => window.__hw_bench !== undefined, undefined, { timeout: 20_000 });
  const has = (name) => page.evaluate((hook) => typeof window.__hw_bench[hook] === 'function', name);
  const call = (name, ...given) => page.evaluate(([hook, values]) => {
    const result = window.__hw_bench[hook](...values);
    return ArrayBuffer.isView(result) ? Array.from(result) : result;
  }, [name, given]);

  const seeks = (await has(HOOKS.seek)) ? await call(HOOKS.seek, SEEKS) : null;
  row('seek in a ten-minute run, wasm, median', seeks && median(seeks), 'ms', 16);
  row('seek in a ten-minute run, wasm, longest', seeks && Math.max(...seeks), 'ms');

  let figures = null;
  if (await has(HOOKS.play)) {
    await call(HOOKS.play);
    figures = await frames(page, await page.context().newCDPSession(page));
  }
  row('stage while messages fly, script a frame', figures && figures.each, 'ms', 6);
  row('stage while messages fly, main thread a frame', figures && figures.whole, 'ms');
  const nodes = await page.evaluate((stage) => {
    const element = document.querySelector(stage);
    return element && element.querySelectorAll('*').length + 1;
  }, STAGE);
  row('stage, DOM nodes', nodes, 'nodes');

  // The first call warms the compiler up, as a page that has run for a while would have.
  if (await has(HOOKS.events)) await call(HOOKS.events, EVENTS / 10);
  const wasm = (await has(HOOKS.events)) ? await call(HOOKS.events, EVENTS) : null;
  const native = await promisify(execFile)(process.env.HIGHWATER_COMMAND ?? 'highwater', NATIVE)
    .then(({ stdout }) => JSON.parse(stdout).events_per_second ?? null)
    .catch(() => null);
  row('events a second, native', native, '');
  row('events a second, wasm', wasm, '');
  row('native over wasm', native && wasm ? native / wasm : null, '', 1.6);

  const views = async (at) => ((await has(HOOKS.frame)) ? await call(HOOKS.frame, at, FRAMES) : [null, null]);
  const [, early] = await views(60);
  const [first, late] = await views(3_600);
  row('views of a frame at 60 s', early, 'ms');
  row('views of a frame at 3,600 s over those at 60 s', early && late ? late / early : null, '', 1.2);
  row('views of the first frame after a way of an hour', first, 'ms', 16);

  await firstView(url, page);
  // Memory never shrinks: a page of its own.
  const fresh = await browser.newPage();
  await fresh.goto(`${url}?bench`);
  await fresh.waitForFunction(() => window.__hw_bench !== undefined, undefined, { timeout: 20_000 });
  const hour = await fresh.evaluate((hook) => window.__hw_bench[hook]?.() ?? null, HOOKS.hour);
  row('memory with an hour of a run', hour, 'MiB', 150);
} finally {
  await browser.close();
  child.kill();
}

const widths = [0, 1, 2].map((column) => Math.max(...rows.map((cells) => cells[column].length), 8));
console.log(`\n${['figure', 'found', 'budget'].map((head, i) => head.padEnd(widths[i])).join('  ')}`);
for (const cells of rows) {
  const [name, found, budget, verdict] = cells;
  console.log(`${name.padEnd(widths[0])}  ${found.padStart(widths[1])}  ${budget.padStart(widths[2])}  ${verdict}`);
}
console.log(`\n${over} over budget`);
process.exit(over ? 1 : 0);
