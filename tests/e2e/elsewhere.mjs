// Another site, for what only shows across origins: it embeds the page, and it also serves a copy of the
// built page under a sub-path, as a plain static host would. It deliberately sends no policy of its own.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';

const KINDS = {
  html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm',
  svg: 'image/svg+xml',
};

/** The sub-path under which the copy stands. */
const COPY = '/some/where/highwater/';

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * Starts the site. `embedding(address, attributes)` is the address of a page that holds one frame, whose
 * attributes are given as text; `copy` is the address of the copy of the page.
 */
export async function elsewhere(dist, url) {
  /** Wrong media types asked for by a test, by file ending. */
  const wrong = {};
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://elsewhere');
    if (pathname === '/embedding') {
      response.setHeader('Content-Type', KINDS.html);
      response.end(
        `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page elsewhere</title>` +
          `<link rel="icon" href="data:,"><body><h1>A page elsewhere</h1>` +
          `<iframe title="Highwater" width="900" height="600" ${searchParams.get('attributes')} ` +
          `src="${escaped(searchParams.get('address'))}"></iframe></body></html>`,
      );
      return;
    }
    try {
      if (!pathname.startsWith(COPY)) throw new Error('not here');
      let file = normalize(join(dist, decodeURIComponent(pathname.slice(COPY.length))));
      if (pathname.endsWith('/')) file = join(file, 'index.html');
      if (!file.startsWith(dist)) throw new Error('not here');
      const body = await readFile(file);
      const ending = file.split('.').pop();
      response.setHeader('Content-Type', wrong[ending] ?? KINDS[ending] ?? 'application/octet-stream');
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end('not here');
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    copy: `${origin}${COPY}`,
    wrong,
    embedding(address = 'embed/1/', attributes = 'sandbox="allow-scripts"') {
      const query = new URLSearchParams({ address: new URL(address, url).href, attributes });
      return `${origin}/embedding?${query}`;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
