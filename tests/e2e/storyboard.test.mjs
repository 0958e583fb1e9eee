// What the scenario's author says and asks, what is going on, and taking back: as a person meets it in the first
// minute. What the answers rest on is for the studio's own tests.

import { equal, ok } from './harness.mjs';
import { act, at, scrub, setting } from './person.mjs';

const question = (page) => page.getByRole('group', { name: /Which clients are still stuck/ });

/** Whether an element shows all of its text: nothing is cut at its right or below. */
const whole = (locator) => locator.evaluate((element) => {
  const box = element.parentElement.getBoundingClientRect();
  const all = element.getBoundingClientRect();
  const fits = element.parentElement.scrollWidth <= element.parentElement.clientWidth;
  return fits && all.right <= box.right + 1 && all.bottom <= box.bottom + 1;
});

export default async function (suite) {
  await suite.check('the story asks before the kill; a key answers, the run judges', async (visit) => {
    const page = await visit.open('');
    await page.getByText('Nothing is wrong.').waitFor();
    equal(await question(page).getByRole('button').count(), 4, 'answers');
    await page.keyboard.press('3');
    await question(page).getByRole('button', { name: 'Only group billing', pressed: true }).waitFor();
    await suite.accessible(page);
    await suite.picture(page, 'question-wide-light');
    await scrub(page, 14);
    await page.getByText('The answer comes once leaders have been elected.').waitFor();
    await scrub(page, 30);
    await page.locator('.story .judged.good', { hasText: 'right.' }).waitFor();
    await page.locator('.story', { hasText: 'Stuck: billing. At work: checkout.' }).waitFor();
    await suite.accessible(page);
  });

  await suite.check('on a phone and in an embed the question is answered by a tap', async (visit) => {
    for (const [address, size] of [
      ['', 'phone'],
      ['embed/1/', { width: 760, height: 640 }],
      ['embed/1/', { width: 360, height: 640 }],
    ]) {
      const page = await visit.open(address, { size });
      await question(page).getByRole('button', { name: 'No client' }).click();
      await suite.noSidewaysScroll(page);
      await suite.picture(page, `question-${address ? 'embed' : 'page'}-${size.width ?? size}`);
      await suite.accessible(page);
      await scrub(page, 30);
      await page.getByText('You said “No client”: not so.').waitFor();
    }
  });

  await suite.check('what is going on is said where there is little room, uncut', async (visit) => {
    for (const [address, size] of [
      ['', { width: 1024, height: 768 }],
      ['', { width: 1440, height: 900 }],
      ['', 'phone'],
      ['embed/1/', { width: 760, height: 640 }],
    ]) {
      const page = await visit.open(address, { size });
      for (const seconds of [25, 12.1]) {
        await scrub(page, seconds);
        const told = page.locator('.caption .told').first();
        await told.waitFor();
        ok(await whole(told), `${await told.innerText()} at ${size.width ?? size} px`);
      }
    }
  });

  await suite.check('in a narrow embed the change that is shown takes the place of the verdict', async (visit) => {
    const page = await visit.open('embed/1/', { size: { width: 360, height: 640 } });
    await scrub(page, 11.95);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const told = page.locator('.verdict-strip .told', { hasText: 'broker 1 is killed' });
    await told.waitFor();
    ok(await whole(told), 'the whole sentence');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.locator('.verdict-strip h2').waitFor();
  });

  await suite.check('a set-up change keeps moment and live settings; Ctrl-Z takes back', async (visit) => {
    const page = await visit.open('');
    equal(await page.getByRole('button', { name: 'Undo' }).count(), 0, 'buttons while there is nothing to take back');
    const rate = setting(page, 'rate');
    await rate.getByRole('button', { name: /more/ }).click();
    await rate.getByText('10/s').waitFor();
    await setting(page, 'replication factor (begins a new run)').first().getByRole('button', { name: /less/ }).click();
    await page.waitForFunction(() => document.querySelectorAll('.broker .replica').length === 12);
    equal(await at(page), 11_000, 'the moment');
    await rate.getByText('10/s').waitFor();
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => document.querySelectorAll('.broker .replica').length === 18);
    await rate.getByText('10/s').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await rate.getByText('6/s').waitFor();
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
  });

  await suite.check('undo takes back what was done to a broker, on a phone too', async (visit) => {
    const page = await visit.open('');
    await act(page, 3, 'Kill');
    await page.locator('.broker.s-down').waitFor();
    await page.keyboard.press('Control+z');
    await page.locator('.broker.s-down').waitFor({ state: 'detached' });
    const phone = await visit.open('', { size: 'phone' });
    await phone.getByRole('button', { name: /for broker 3$/ }).click();
    await phone.getByRole('menuitem', { name: 'Kill', exact: true }).click();
    await phone.getByText('fenced in').first().waitFor();
    await phone.getByRole('button', { name: 'Undo' }).click();
    await phone.getByText('fenced in').first().waitFor({ state: 'detached' });
    await suite.noSidewaysScroll(phone);
  });

  await suite.check('a broker that restarts says how far it is; a dead one is started by its button', async (visit) => {
    const page = await visit.open('');
    await act(page, 2, 'Restart');
    const head = page.locator('.broker').nth(1).locator('.broker-head');
    await head.getByText(/^restarts/).waitFor();
    const skip = page.getByRole('button', { name: 'Skip the wait' });
    for (let i = 0; i < 40 && !(await head.getByText('registration refused').count()); i += 1) await skip.click();
    await head.getByText('registration refused').waitFor();
    await page.getByRole('tab', { name: 'Text' }).click();
    await page.locator('#panel').getByText('DUPLICATE_BROKER_REGISTRATION').first().waitFor();
    await scrub(page, 30);
    await page.getByRole('button', { name: 'Start: broker 1' }).click();
    await page.locator('.broker').first().getByText('starts').waitFor();
  });

  await suite.check('what a broker does while it stops leaves its menu within its row, with five brokers too', async (visit) => {
    const page = await visit.open('');
    for (let more = 0; more < 2; more += 1) {
      await page.getByRole('button', { name: 'brokers (begins a new run): more' }).click();
    }
    for (const broker of [1, 2, 3]) {
      await act(page, broker, 'Restart');
      const row = page.locator('.broker').nth(broker - 1);
      await row.getByText(/^restarts/).waitFor();
      const [outer, menu] = [await row.boundingBox(), await row.locator('.menu').boundingBox()];
      ok(menu.y + menu.height <= outer.y + outer.height, `broker ${broker}: the menu ends below its row`);
    }
  });

  await suite.check('links that are cut are drawn and said, on a phone they are said', async (visit) => {
    const page = await visit.open('');
    await act(page, 2, 'Cut off from controllers');
    equal(await page.locator('.cuts .cut').count(), 3, 'cuts on the stage');
    await page.locator('.cut-list', { hasText: 'cut between broker 2 and' }).waitFor();
    await suite.accessible(page);
    const phone = await visit.open('', { size: 'phone' });
    await phone.getByRole('button', { name: /for broker 2$/ }).click();
    await phone.getByRole('menuitem', { name: 'Cut off from controllers' }).click();
    await phone.locator('.cut-list', { hasText: 'cut between broker 2 and' }).waitFor();
    await phone.getByRole('button', { name: 'Heal all links' }).click();
    await phone.locator('.cut-list').waitFor({ state: 'detached' });
  });

  await suite.check('the chosen message is marked on the stage and in the lanes', async (visit) => {
    const page = await visit.open('');
    for (let i = 0; i < 30 && !(await page.locator('.flight').count()); i += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('n');
    await page.locator('.flight.chosen').waitFor();
    equal(await page.locator('.lane-canvas .chosen-way').count(), 2, 'what it has gone and what is left');
    await page.locator('.message-head .message-kind').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('next message in flight, the one before').waitFor();
    await suite.accessible(page);
  });

  await suite.check('in an embed neither the mark of a shared run nor a note moves the stage', async (visit) => {
    const page = await visit.open('');
    await setting(page, 'client (begins a new run)').getByRole('button', { name: '4.1' }).click();
    await page.waitForFunction(() => location.hash.startsWith('#k1'));
    const hash = await page.evaluate(() => location.hash.split('&')[0]);
    for (const size of [{ width: 760, height: 640 }, { width: 360, height: 640 }]) {
      const embed = await visit.open(`embed/1/${hash}&mode=lesson`, { size });
      await scrub(embed, 25);
      await embed.getByText('A shared scenario, not from the gallery').waitFor();
      const note = embed.locator('.note-bar', { hasText: 'mode=lesson' });
      const top = () => embed.locator('#stage').evaluate((stage) => stage.getBoundingClientRect().top);
      const before = await top();
      await suite.picture(embed, `embed-shared-${size.width}`);
      await note.getByRole('button', { name: 'Close' }).click();
      await note.waitFor({ state: 'detached' });
      equal(await top(), before, 'upper edge of the stage');
      await suite.noSidewaysScroll(embed);
      const low = await embed.evaluate(() => {
        const bottom = document.querySelector('.embed-bottom').getBoundingClientRect().top;
        const below = (e) => e.getBoundingClientRect().top > bottom - 20;
        return [...document.querySelectorAll('.client')].filter(below).length;
      });
      equal(low, 0, `clients out of sight at ${size.width} px`);
    }
  });

  await suite.check('every control of the phone is at least 44 px high, in each of its views', async (visit) => {
    const page = await visit.open('', { size: 'phone' });
    const low = () => page.evaluate(() => {
      const controls = [...document.querySelectorAll('button, a, select, summary, input')];
      const height = (control) => control.getBoundingClientRect().height;
      return controls.filter((c) => height(c) > 0 && height(c) < 43.5).map((c) => c.textContent.slice(0, 30));
    });
    const tabs = page.locator('.phone-tabs');
    for (const name of ['Stage', 'Promises', 'Settings', 'Log']) {
      await tabs.getByRole('button', { name }).click();
      await tabs.locator('.on', { hasText: name }).waitFor();
      equal(await low(), [], `lower controls of ${name}`);
    }
  });
}
