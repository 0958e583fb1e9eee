// The embedded form at its frozen path, inside another site. What it shows is for other topics.

import { equal, ok } from './harness.mjs';
import { at, scrub, share } from './person.mjs';

async function frameOf(visit, page) {
  const frame = await (await page.locator('iframe').elementHandle()).contentFrame();
  await visit.started(frame);
  return frame;
}

export default async function (suite) {
  await suite.check('the embed runs in the strictest sandbox', async (visit) => {
    const page = await visit.open(suite.elsewhere.embedding(), { ready: false });
    const frame = await frameOf(visit, page);
    equal(await frame.evaluate(() => window.origin), 'null', 'origin');
    equal(await frame.evaluate(() => document.documentElement.dataset.embed), '1', 'data-embed');
    const storage = await frame.evaluate(() => {
      try {
        return typeof window.localStorage;
      } catch (error) {
        return error.name;
      }
    });
    equal(storage, 'SecurityError', 'storage');
    await suite.picture(page, 'embed-sandboxed-wide-light');
  });

  await suite.check('a shared frame plays in the strictest sandbox, from its moment on', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 13);
    const { frame: markup } = await share(page);
    const address = markup.match(/src="([^"]*)"/)[1].replaceAll('&amp;', '&');
    const host = await visit.open(suite.elsewhere.embedding(address), { ready: false });
    const frame = await frameOf(visit, host);
    equal(await at(frame), await at(page), 'the moment');
    await frame.getByRole('button', { name: 'Play' }).click();
    const from = await at(frame);
    await frame.waitForFunction(
      (before) => Number(document.querySelector('[role=slider]').getAttribute('aria-valuenow')) > before,
      from,
    );
    await frame.getByRole('button', { name: 'Pause' }).click();
    equal(await frame.locator('#stage').count(), 1, 'stages');
    const out = await frame.getByRole('link', { name: /Highwater/ }).getAttribute('href');
    ok(out.startsWith(`${visit.url}#k1`), `the way out leads to the playground: ${out}`);
    await suite.picture(host, 'embed-playing-wide-light');
  });

  await suite.check('at its printed height an embed shows verdict and clients; a tap says what', async (visit) => {
    for (const size of [{ width: 760, height: 640 }, { width: 360, height: 640 }]) {
      const page = await visit.open('embed/1/', { size });
      await scrub(page, 25);
      await page.locator('.verdict-strip', { hasText: 'Every consumer is stopped' }).waitFor();
      const low = await page.evaluate(() => {
        const bottom = document.querySelector('.embed-bottom').getBoundingClientRect().top;
        const below = (e) => e.getBoundingClientRect().bottom > bottom + 1;
        return [...document.querySelectorAll('.client')].filter(below).length;
      });
      equal(low, 0, `clients below the edge at ${size.width} px`);
      await suite.noSidewaysScroll(page);
      await page.locator('.replica').first().click();
      await page.locator('.chosen-line', { hasText: 'orders-0 on broker 1' }).waitFor();
      await page.locator('.replica').first().click();
      await page.locator('.chosen-line').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /^Why/ }).first().click();
      await page.locator('#why', { hasText: 'offsets.topic.replication.factor' }).waitFor();
      await suite.accessible(page);
      await suite.picture(page, `embed-why-${size.width}`);
      await page.locator('#why').getByRole('button', { name: 'Close' }).click();
      await suite.picture(page, `embed-${size.width}`);
    }
  });

  await suite.check('a question about the clients leaves them in sight', async (visit) => {
    for (const language of ['en', 'zh']) {
      for (const size of [{ width: 760, height: 640 }, { width: 360, height: 640 }]) {
        const page = await visit.open(`embed/1/#&lang=${language}`, { size });
        await scrub(page, 11.5);
        await page.locator('.story-strip').waitFor();
        const [cards, low] = await page.evaluate(() => {
          const edge = document.querySelector('.embed-bottom').getBoundingClientRect().top;
          const all = [...document.querySelectorAll('.client')];
          return [all.length, all.filter((e) => e.getBoundingClientRect().bottom > edge + 1).length];
        });
        equal([cards, low], [2, 0], `clients, and those below the edge at ${size.width} px, ${language}`);
        await suite.noSidewaysScroll(page);
        await suite.picture(page, `embed-question-${size.width}-${language}`);
      }
    }
  });

  await suite.check('what an address asks of an embed in vain is said', async (visit) => {
    const page = await visit.open('embed/1/#&mode=lesson&size=fit&controls=none&play=1');
    await page.getByText('mode=lesson').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    equal(await page.getByRole('button', { name: 'Play', exact: true }).count(), 0, 'buttons to play');
  });

  await suite.check('the embed takes neither focus nor scroll from its host, and stores nothing', async (visit) => {
    const page = await visit.open(suite.elsewhere.embedding('embed/1/', ''), { ready: false });
    const frame = await frameOf(visit, page);
    equal(await page.evaluate(() => document.activeElement.tagName), 'BODY', 'focus');
    equal(await page.evaluate(() => window.scrollY), 0, 'scroll');
    const stored = await frame.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
    equal(stored, [0, 0, ''], 'storage');
  });

  await suite.check('the embed asks for no file of its own but its page', async (visit) => {
    await visit.open('embed/1/');
    const paths = visit.requests.map((url) => new URL(url).pathname);
    equal(paths.filter((path) => path.startsWith('/embed/')), ['/embed/1/'], 'files under /embed/');
    ok(paths.includes('/highwater-page_bg.wasm'), 'the program is the one of the page');
  });

  await suite.check('axe finds nothing in the embed', async (visit) => {
    await suite.accessible(await visit.open('embed/1/'));
  });
}
