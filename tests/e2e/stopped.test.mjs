// A bug of the program: what is said, in page and embed, while it plays and while it starts. The browser is made to
// refuse what drawing needs, so that the program panics where it stands; nothing in the page can be asked to.

import { equal, ok } from './harness.mjs';
import { at, scrub, shared } from './person.mjs';

/** From now on nothing new can be drawn. */
const refuse = (frame) => frame.evaluate(() => {
  Document.prototype.createElementNS = () => {
    throw new Error('taken away by the check');
  };
});

/** What a panic leaves in the browser's own console is what these checks are about. */
function expectPanic(visit) {
  visit.expect(/console: panicked at/);
  visit.expect(/exception: unreachable/);
}

async function frameOf(visit, page) {
  const frame = await (await page.locator('iframe').elementHandle()).contentFrame();
  await visit.started(frame);
  return frame;
}

export default async function (suite) {
  await suite.check('a panic in play is one message, with the moment, a report and a way back', async (visit) => {
    expectPanic(visit);
    const page = await visit.open('');
    await scrub(page, 11.5);
    const before = await at(page);
    const link = (await shared(page)).split('&lang')[0];
    await refuse(page);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const card = page.locator('#panic');
    await card.waitFor();
    equal(await page.getByRole('alert').count(), 1, 'messages');
    const words = await card.innerText();
    ok(words.includes('Highwater has stopped') && /It happened at 1[12]\.\d{3} s/.test(words), words);
    const report = await card.getByRole('textbox').inputValue();
    ok(report.includes('taken away by the check') && report.includes(link), `the report: ${report}`);
    ok(await page.locator('#app').evaluate((app) => app.inert), 'what is frozen cannot be used');
    await suite.picture(page, 'stopped-wide-light');
    await suite.accessible(page);
    // A load makes the browser whole again.
    await card.getByRole('button', { name: 'Go back before it' }).click();
    await card.waitFor({ state: 'detached' });
    await visit.started(page);
    equal(await at(page), before, 'the moment that one comes back to');
  });

  await suite.check('a panic while a link is opened is one message; its way out leads elsewhere', async (visit) => {
    expectPanic(visit);
    const made = await visit.open('');
    await scrub(made, 25);
    const hash = await shared(made);
    const page = await visit.open('', { ready: false });
    await visit.started(page);
    await page.addInitScript(() => {
      const real = Document.prototype.createElementNS;
      Document.prototype.createElementNS = function refused(...asked) {
        if (location.hash.includes('&at=')) throw new Error('taken away by the check');
        return real.apply(this, asked);
      };
    });
    await page.evaluate((to) => {
      location.hash = to;
      location.reload();
    }, hash);
    const card = page.locator('#panic');
    await card.waitFor();
    equal(await page.getByRole('alert').count(), 1, 'messages');
    equal(await page.locator('[data-state=failed], #boot-state').count(), 0, 'other texts');
    equal(await page.locator('main').count(), 1, 'main landmarks');
    await suite.accessible(page);
    await card.getByRole('button', { name: 'Open without the link' }).click();
    await page.locator('#stage').waitFor();
    await visit.started(page);
    ok(!(await page.evaluate(() => location.hash)).includes(hash.slice(1, 40)), 'the link is gone');
  });

  await suite.check('an embed says it too, in the strictest sandbox', async (visit) => {
    expectPanic(visit);
    const host = await visit.open(suite.elsewhere.embedding(), { ready: false });
    const frame = await frameOf(visit, host);
    await refuse(frame);
    await frame.getByRole('button', { name: 'Play', exact: true }).click();
    await frame.locator('#panic').waitFor();
    equal(await frame.getByRole('alert').count(), 1, 'messages');
    await frame.getByRole('button', { name: 'Open without the link' }).click();
    await frame.locator('#panic').waitFor({ state: 'detached' });
    await frame.locator('#stage').waitFor();
  });
}
