// One message that was chosen: said over the stage, marked on its way, gone through by keyboard, found from the text.
// What is done to it by hand is told elsewhere.

import { equal, ok } from './harness.mjs';
import { act, scrub } from './person.mjs';

const line = (page) => page.locator('.of-message p');

/** Goes to a moment at which something is in flight and chooses the first. */
async function choose(page) {
  for (let i = 0; i < 30 && !(await page.locator('.flight').count()); i += 1) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('n');
  await line(page).waitFor();
}

export default async function (suite) {
  await suite.check('the chosen message is said in one line over the stage, which does not move for it', async (visit) => {
    for (const size of ['wide', { width: 1024, height: 768 }]) {
      const page = await visit.open('', { size });
      const top = () => page.locator('#stage').evaluate((stage) => stage.getBoundingClientRect().top);
      const before = await top();
      await choose(page);
      equal(await top(), before, 'upper edge of the stage');
      const words = await line(page).innerText();
      ok(/^\d+\.\d{6} s \S+ .* (asks|answers) .*: \w+(Request|Response) v\d+/.test(words), words);
      await page.locator('.of-message', { hasText: /1 of \d+ in flight/ }).waitFor();
      equal(await page.locator('[data-live]').innerText().then((said) => /(asks|answers)/.test(said)), true, 'said aloud');
      await suite.accessible(page);
    }
  });

  await suite.check('one goes from message to message by button and key, and Escape leaves them', async (visit) => {
    const page = await visit.open('');
    await choose(page);
    const first = await line(page).innerText();
    await page.locator('.of-message').getByRole('button', { name: 'Next message in flight' }).click();
    await page.locator('.of-message', { hasText: /2 of \d+ in flight/ }).waitFor();
    ok((await line(page).innerText()) !== first, 'another message');
    await page.keyboard.press('Shift+N');
    await page.locator('.of-message', { hasText: /1 of \d+ in flight/ }).waitFor();
    await page.keyboard.press('Escape');
    await line(page).waitFor({ state: 'detached' });
    equal(await page.locator('.flight.chosen').count(), 0, 'marked messages');
  });

  await suite.check('the way behind the chosen message is solid, the way ahead dashed with an arrow', async (visit) => {
    const page = await visit.open('');
    await choose(page);
    const dashes = (way) => way.evaluate((path) => getComputedStyle(path).strokeDasharray);
    const [ahead, gone] = [page.locator('.flight.chosen .way').first(), page.locator('.flight.chosen .way.gone')];
    equal(await ahead.getAttribute('marker-end'), 'url(#way-end)', 'an arrow at the receiver');
    ok((await dashes(ahead)).startsWith('5px'), 'dashes ahead');
    ok((await dashes(gone)).endsWith('1e+06px') || (await dashes(gone)).endsWith('1000000px'), await dashes(gone));
  });

  await suite.check('the lanes are zoomed to the chosen message, and its neighbours are chosen from them', async (visit) => {
    const page = await visit.open('');
    // Several on their way at once.
    for (let i = 0; i < 40 && (await page.locator('.flight').count()) < 3; i += 1) await page.keyboard.press('ArrowRight');
    equal(await page.locator('.lane-way').count(), 0, 'at the zoom of the whole run there is none');
    await page.keyboard.press('n');
    await page.getByRole('button', { name: 'Show it in the lanes' }).click();
    await page.locator('.lane-way').first().waitFor({ state: 'attached' });
    ok(/^\d+\.\d{6} s$/.test(await page.locator('.ruler .playhead text').textContent()), 'all figures of the moment');
    const first = await line(page).innerText();
    await page.locator('.lane-mark', { has: page.locator('.lane-way') }).first().locator('.hit').dispatchEvent('click');
    await page.waitForFunction((was) => document.querySelector('.of-message p').innerText !== was, first);
    await suite.picture(page, 'message-lanes-wide-light');
    await suite.accessible(page);
  });

  await suite.check('a message whose receiver dies says that it will find nobody', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 10);
    for (let i = 0; i < 60 && !/to broker 3/.test(await flights(page)); i += 1) await page.keyboard.press('.');
    await page.locator('.flyer[aria-label*="to broker 3"]').first().focus();
    await page.keyboard.press('Enter');
    await line(page).waitFor();
    await act(page, 3, 'Kill');
    await page.locator('.of-message', { hasText: 'it will find nobody' }).waitFor();
  });

  await suite.check('on a phone a message is chosen from the text; in Chinese it is said in Chinese', async (visit) => {
    const page = await visit.open('', { size: 'phone', locale: 'zh-CN' });
    await page.locator('.phone-tabs').getByRole('button', { name: '承诺' }).click();
    await page.locator('.phone-views').getByRole('button', { name: '文字' }).click();
    const listed = page.locator('.text-view .linky', { hasText: /(请求|应答)，从/ });
    for (let i = 0; i < 30 && !(await listed.count()); i += 1) {
      await page.getByRole('button', { name: '前进一步' }).click();
    }
    await listed.first().click();
    await line(page).filter({ hasText: /(请求|应答) .*：\w+ v\d+/ }).waitFor();
    await page.locator('.message-head').waitFor();
    const low = await page.locator('.of-message .btn').evaluateAll((all) => all.map((b) => b.offsetHeight));
    ok(low.every((height) => height >= 44), `buttons are ${low} px high`);
    await suite.noSidewaysScroll(page);
    await suite.picture(page, 'message-phone-light-zh');
  });

  await suite.check('an embed says of a chosen message what it carries', async (visit) => {
    const page = await visit.open('embed/1/', { size: { width: 760, height: 640 } });
    for (let i = 0; i < 30 && !(await page.locator('.flight').count()); i += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('n');
    await page.locator('.chosen-line', { hasText: /(Request|Response) v\d+ · / }).waitFor();
  });

  await suite.check('a line of the log opens its message while that is on its way, by key', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 12);
    await page.getByRole('tab', { name: 'Log' }).click();
    const offered = page.locator('.log-message').first();
    for (let i = 0; i < 40 && !(await offered.count()); i += 1) await page.keyboard.press('.');
    await suite.picture(page, 'log-message-wide');
    await offered.focus();
    await page.keyboard.press('Enter');
    await line(page).waitFor();
    await suite.accessible(page);
  });
}

/** The names of what is in flight. */
const flights = (page) => page.locator('.flyer').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label')).join('; '));
