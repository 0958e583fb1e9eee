// What every topic uses: the server, the browser, pages that are watched for errors, checks and pictures.
// It deliberately never bypasses the page's content security policy and never waits for a fixed time.

import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { elsewhere } from './elsewhere.mjs';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCREENS = `${ROOT}test-output/screens`;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The two sizes at which main views are looked at, in CSS pixels. */
export const SIZES = {
  wide: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
};

/** How long one check may take before it counts as failed, in milliseconds. */
const PATIENCE = 60_000;

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
  '--disable-component-update', '--no-first-run',
];

/** Starts our own server over dist/ at a free port; resolves with the process and the page's address. */
export function serve() {
  const helper = process.env.HIGHWATER_XTASK;
  const [program, ...first] = helper ? [helper] : ['cargo', 'xtask'];
  const child = spawn(program, [...first, 'serve', '--no-build', '--port', '0'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = line.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) resolve({ child, url: found[0] });
    });
  });
}

/** Starts the browser that CHROMIUM names. */
export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: FLAGS });
}

/** Throws unless the two are the same when written as JSON. */
export function equal(actual, expected, what = 'value') {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
}

/** Throws unless the fact holds. */
export function ok(fact, what) {
  if (!fact) throw new Error(what);
}

/** The pages of one check, with everything that went wrong in them. */
class Visit {
  #contexts = [];

  constructor(suite, name) {
    this.suite = suite;
    this.name = name;
    /** The address of the page, ending with a slash. */
    this.url = suite.url;
    /** Console errors, uncaught exceptions, failed requests and requests to other origins, as text. */
    this.problems = [];
    /** Every address that was asked for. */
    this.requests = [];
    this.allowed = [];
  }

  /** Says that problems matching this pattern are what the check is about. */
  expect(pattern) {
    this.allowed.push(pattern);
  }

  /**
   * Opens an address (relative to the page) in a browser context of its own.
   * Options: `size` ('wide', 'phone' or {width, height}), `scheme` ('light' or 'dark'), `locale`,
   * `reducedMotion`, `ready` (false: do not wait until the program has replaced the frame of the page), and
   * `context`: further options of Playwright's newContext.
   */
  async open(address = '', options = {}) {
    const { size = 'wide', scheme = 'light', locale = 'en-US', ready = true } = options;
    const { reducedMotion = 'no-preference' } = options;
    const context = await this.suite.browser.newContext({
      viewport: SIZES[size] ?? size, colorScheme: scheme, locale, reducedMotion, ...options.context,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    this.watch(page);
    await page.goto(new URL(address, this.url).href);
    if (ready) await this.started(page);
    return page;
  }

  /** Waits until the program has drawn into the page (or into the frame given). */
  async started(frame) {
    await frame.waitForFunction(() => {
      const app = document.getElementById('app');
      return app && !document.getElementById('boot-state') && app.childElementCount > 0;
    });
    const failed = await frame.evaluate(() => document.querySelector('[data-state="failed"]')?.textContent);
    if (failed) throw new Error(`the program did not start: ${failed}`);
  }

  watch(page) {
    const origins = [new URL(this.url).origin, this.suite.elsewhere.origin];
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.problems.push(`exception: ${error.message}`));
    page.on('requestfailed', (request) => {
      this.problems.push(`request failed: ${request.url()} ${request.failure()?.errorText}`);
    });
    page.on('request', (request) => {
      this.requests.push(request.url());
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http') && !origins.includes(origin)) {
        this.problems.push(`other origin: ${request.url()}`);
      }
    });
  }

  async close() {
    for (const context of this.#contexts) await context.close();
    const left = this.problems.filter((problem) => !this.allowed.some((pattern) => pattern.test(problem)));
    if (left.length) throw new Error(left.join('\n'));
    const missing = this.allowed.filter((pattern) => !this.problems.some((problem) => pattern.test(problem)));
    if (missing.length) throw new Error(`expected, but did not happen: ${missing.join(', ')}`);
  }
}

/** Counts checks and owns what they share. */
export class Suite {
  passed = 0;
  failed = 0;

  /** Starts the server of the page, the server that embeds it, and the browser. */
  static async start() {
    const suite = new Suite();
    await mkdir(SCREENS, { recursive: true });
    const { child, url } = await serve();
    suite.server = child;
    suite.url = url;
    suite.elsewhere = await elsewhere(`${ROOT}dist`, url);
    suite.browser = await launch();
    return suite;
  }

  async stop() {
    await this.browser?.close();
    this.server?.removeAllListeners('exit');
    this.server?.kill();
    await this.elsewhere?.close();
  }

  /**
   * Runs one check. `fn` gets a visit, with which it opens pages; besides what `fn` itself throws, a
   * console error, an exception, a failed request or a request to another origin fails it.
   */
  async check(name, fn) {
    const visit = new Visit(this, name);
    const from = performance.now();
    let late;
    try {
      const limit = new Promise((_, reject) => {
        late = setTimeout(() => reject(new Error(`not done after ${PATIENCE / 1000} s`)), PATIENCE);
      });
      await Promise.race([fn(visit), limit]);
      await visit.close();
      this.passed += 1;
      console.log(`  ok    ${name} (${Math.round(performance.now() - from)} ms)`);
    } catch (error) {
      await visit.close().catch(() => {});
      this.fail(name, error, visit);
    } finally {
      clearTimeout(late);
    }
  }

  fail(name, error, visit) {
    this.failed += 1;
    console.log(`  FAIL  ${name}\n        ${String(error?.stack ?? error).replaceAll('\n', '\n        ')}`);
    for (const problem of visit?.problems ?? []) console.log(`        noticed: ${problem}`);
  }

  /** Keeps a picture of the page as test-output/screens/<name>.png. */
  async picture(page, name) {
    await page.screenshot({ path: `${SCREENS}/${name}.png`, animations: 'disabled' });
  }

  /** Pictures of one address at both sizes and in both colour schemes; `act` may prepare the page. */
  async pictures(visit, name, address = '', act = async () => {}) {
    for (const size of Object.keys(SIZES)) {
      for (const scheme of ['light', 'dark']) {
        const page = await visit.open(address, { size, scheme });
        await act(page);
        await this.picture(page, `${name}-${size}-${scheme}`);
      }
    }
  }

  /**
   * Throws when axe finds a violation in the page or frame. Its source is evaluated there, because the
   * policy forbids a script tag and is never bypassed.
   */
  async accessible(frame, options = {}) {
    await frame.evaluate(AXE);
    const found = await frame.evaluate((given) => window.axe.run(document, given), {
      resultTypes: ['violations'], ...options,
    });
    const lines = found.violations.map(
      (rule) => `${rule.id} (${rule.impact}): ${rule.help}\n  ${rule.nodes.map((node) => node.html).join('\n  ')}`,
    );
    if (lines.length) throw new Error(`axe: ${lines.length} rules broken\n${lines.join('\n')}`);
  }

  /** Throws when the page can be scrolled sideways. */
  async noSidewaysScroll(page) {
    const [content, room] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    if (content > room) throw new Error(`the page is ${content} px wide in a window of ${room} px`);
  }
}
