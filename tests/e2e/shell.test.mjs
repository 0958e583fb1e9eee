// The frame of the page: it loads, keeps to its policy, says what went wrong, and fits.
// What the program does once it runs is not looked at here.

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { ROOT, equal, ok } from './harness.mjs';

/** Sends a request line as it stands; a browser would tidy the path first. */
function raw(url, target, method = 'GET') {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const socket = connect(Number(port), hostname, () => socket.write(head));
    socket.on('data', (data) => (text += data));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

/** Our own server with few files to open; `line` waits for a line of either stream. */
function poor(files, ...options) {
  const [program, ...first] = process.env.HIGHWATER_XTASK ? [process.env.HIGHWATER_XTASK] : ['cargo', 'xtask'];
  const call = [program, ...first, 'serve', '--port', '0', ...options];
  const child = spawn('sh', ['-c', `ulimit -n ${files}; exec "$@"`, 'sh', ...call], { cwd: ROOT });
  const lines = [];
  let heard = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      heard();
    });
  }
  const line = async (pattern) => {
    for (;;) {
      const found = lines.map((text) => text.match(pattern)).find(Boolean);
      if (found) return found[0];
      await new Promise((resolve, reject) => {
        heard = resolve;
        child.once('exit', () => reject(new Error(`the server ended: ${lines.join('\n')}`)));
      });
    }
  };
  return { child, lines, line };
}

export default async function (suite) {
  await suite.check('the page loads, without an error or a request elsewhere', async (visit) => {
    const page = await visit.open('');
    equal(await page.title(), 'Highwater', 'title');
    equal(await page.locator('main').count(), 1, 'main landmarks');
    const wasm = visit.requests.filter((url) => url.endsWith('.wasm'));
    equal(new Set(wasm).size, 1, 'wasm files asked for');
  });

  await suite.check('the frame of the page says something before the program arrives', async (visit) => {
    // With scripts off the browser drops the module that it was told to load early, and calls that a failure.
    visit.expect(/request failed: .*\.js csp/);
    const page = await visit.open('', { ready: false, context: { javaScriptEnabled: false } });
    equal(await page.locator('main h1').textContent(), 'Highwater');
    ok(await page.locator('noscript').count(), 'a word for those without JavaScript');
  });

  await suite.check('the policy stops inline script, inline style and text turned into HTML', async (visit) => {
    const page = await visit.open('');
    visit.expect(/console: .*(Content Security Policy|TrustedHTML|TrustedScript)/);
    const found = await page.evaluate(async () => {
      const script = document.createElement('script');
      const result = {};
      // Making the text of a script from a string is refused by trusted types, before the policy on scripts.
      try {
        script.textContent = 'window.inlineRan = true';
        document.head.append(script);
      } catch {
        result.refused = true;
      }
      const image = document.createElement('img');
      image.setAttribute('alt', '');
      try {
        image.setAttribute('onerror', 'window.handlerRan = true');
        image.src = 'data:image/png;base64,broken';
        document.body.append(image);
        await new Promise((done) => image.addEventListener('error', done));
      } catch {
        result.handlerRefused = true;
      }
      const box = document.createElement('div');
      box.setAttribute('style', 'position: fixed; width: 7px');
      document.body.append(box);
      result.width = getComputedStyle(box).position;
      try {
        box.innerHTML = '<b>x</b>';
        result.html = box.childElementCount;
      } catch {
        result.html = 'refused';
      }
      result.inlineRan = window.inlineRan ?? false;
      result.handlerRan = window.handlerRan ?? false;
      return result;
    });
    equal(found.inlineRan, false, 'inline script ran');
    equal(found.handlerRan, false, 'inline handler ran');
    equal(found.width, 'static', 'inline style applied');
    equal(found.html, 'refused', 'text turned into HTML');
  });

  await suite.check('the policy is sent as a header too, and allows embedding', async (visit) => {
    const answer = await fetch(visit.url);
    const header = answer.headers.get('content-security-policy');
    const html = await answer.text();
    ok(html.replace(/\s+/g, ' ').includes(header), 'the header says what the page says');
    ok(!header.includes('frame-ancestors'), 'embedding is allowed');
    ok(!/unsafe-(inline|eval|hashes)/.test(header.replace("'wasm-unsafe-eval'", '')), 'nothing unsafe');
    equal(answer.headers.get('x-frame-options'), null);
    equal(answer.headers.get('cache-control'), 'no-cache');
    equal(answer.headers.get('access-control-allow-origin'), '*');
    const wasm = await fetch(new URL('highwater-page_bg.wasm', visit.url), { method: 'HEAD' });
    equal(wasm.headers.get('content-type'), 'application/wasm');
  });

  await suite.check('the server gives nothing outside the page', async (visit) => {
    const outside = ['/../Cargo.toml', '/%2e%2e/Cargo.toml', '/embed/../../Cargo.toml'];
    for (const target of [...outside, '//etc/passwd', '/..%5cCargo.toml']) {
      const answer = await raw(visit.url, target);
      ok(/^HTTP\/1.1 (403|404)/.test(answer), `${target}: ${answer.split('\r\n')[0]}`);
      ok(!answer.includes('[workspace]'), target);
    }
    ok((await raw(visit.url, '/', 'POST')).startsWith('HTTP/1.1 405'), 'POST is refused');
    ok((await raw(visit.url, '/nothing.js')).startsWith('HTTP/1.1 404'), 'a missing file is said to be missing');
  });

  await suite.check('a request that is broken is answered with 400', async (visit) => {
    for (const target of ['/%', '/%zz', '/%f', '/%ff', '/a%e4b', '/ HTTP/9']) {
      const answer = await raw(visit.url, target);
      ok(answer.startsWith('HTTP/1.1 400'), `${target}: ${answer.split('\r\n')[0]}`);
    }
    const long = await raw(visit.url, `/${'a'.repeat(20_000)}`);
    ok(long.startsWith('HTTP/1.1 431'), `a request without end: ${long.split('\r\n')[0]}`);
  });

  await suite.check('a server that has no file left says so once, waits, and goes on when there is one', async () => {
    const server = poor(24, '--no-build');
    const held = [];
    try {
      const url = await server.line(/http:\/\/127\.0\.0\.1:\d+\//);
      const { hostname, port } = new URL(url);
      for (let i = 0; i < 40; i += 1) held.push(connect(Number(port), hostname).on('error', () => {}));
      await server.line(/A connection cannot be taken now/);
      for (const socket of held) socket.destroy();
      equal((await fetch(url)).status, 200, 'the page afterwards');
      const said = server.lines.filter((line) => line.includes('cannot be taken')).length;
      ok(said <= 3, `it was said ${said} times`);
    } finally {
      for (const socket of held) socket.destroy();
      server.child.kill();
    }
  });

  await suite.check('the page works under any path of a plain static host', async (visit) => {
    const page = await visit.open(suite.elsewhere.copy);
    equal(await page.title(), 'Highwater');
    const frame = await visit.open(`${suite.elsewhere.copy}embed/1/`);
    equal(await frame.evaluate(() => document.documentElement.dataset.embed), '1');
  });

  await suite.check('a wasm file that is missing is explained on the page', async (visit) => {
    visit.expect(/console: .*(404|WebAssembly|CompileError|TypeError)/);
    const page = await visit.open('', { ready: false });
    await page.context().route('**/*.wasm', (route) => route.fulfill({ status: 404, body: 'gone' }));
    await page.reload();
    await page.getByRole('alert').waitFor();
    ok((await page.getByRole('alert').textContent()).includes('could not be started'), 'what happened is said');
    await suite.accessible(page);
    await suite.picture(page, 'shell-failed-wide-light');
  });

  await suite.check('a host that sends wasm with a wrong media type still works', async (visit) => {
    suite.elsewhere.wrong.wasm = 'application/octet-stream';
    try {
      await visit.open(suite.elsewhere.copy);
    } finally {
      delete suite.elsewhere.wrong.wasm;
    }
  });

  await suite.check('axe finds nothing, in both colour schemes and at both sizes', async (visit) => {
    for (const size of ['wide', 'phone']) {
      for (const scheme of ['light', 'dark']) await suite.accessible(await visit.open('', { size, scheme }));
    }
  });

  await suite.check('nothing scrolls sideways at 320 px', async (visit) => {
    for (const address of ['', 'embed/1/']) {
      await suite.noSidewaysScroll(await visit.open(address, { size: { width: 320, height: 640 } }));
    }
  });

  await suite.check('pictures of the first view', async (visit) => {
    await suite.pictures(visit, 'first');
  });
}
