// Time: back and forth, acting in the past, branches, reduced motion. What happens in it is for other topics.

import { equal, ok } from './harness.mjs';
import { act, at, pressUntil, scrub, share, shared, verdict, verdicts } from './person.mjs';

export default async function (suite) {
  await suite.check('the same moment has the same digest, however it is come to', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 25);
    const first = await share(page);
    const seen = await page.locator('#stage').innerText();
    for (const seconds of [3, 40, 12.5, 0.4, 30]) await scrub(page, seconds);
    await scrub(page, 25);
    const again = await share(page);
    equal([again.at, again.digest], [first.at, first.digest], 'moment and digest');
    equal(await page.locator('#stage').innerText(), seen, 'the stage');
    await scrub(page, 24);
    ok((await share(page)).digest !== first.digest, 'another moment has another digest');
  });

  await suite.check('steps back undo steps forward, by message, event and notable change', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 1);
    for (const [forth, back] of [['.', ','], ['ArrowRight', 'ArrowLeft'], ['Shift+ArrowRight', 'Shift+ArrowLeft']]) {
      // To a place of that kind of step, then three on and three back.
      const step = async (key) => {
        const before = await shared(page);
        await page.keyboard.press(key);
        await page.waitForFunction((hash) => location.hash !== hash, before);
      };
      await step(forth);
      const places = [await shared(page)];
      for (let i = 0; i < 3; i += 1) {
        await step(forth);
        places.push(await shared(page));
      }
      for (const place of places.slice(0, 3).reverse()) {
        await step(back);
        equal(await shared(page), place, `after ${back}`);
      }
    }
  });

  await suite.check('acting in the past begins a branch, and the old run can be returned to', async (visit) => {
    const page = await visit.open('');
    // A pixel of the lanes is another moment once they share their row with the runs; a change is the same one.
    const late = async () => {
      await scrub(page, 30);
      const text = () => page.getByRole('slider').getAttribute('aria-valuetext');
      const before = await text();
      await page.keyboard.press('Shift+ArrowLeft');
      await page.waitForFunction(
        (was) => document.querySelector('[role=slider]').getAttribute('aria-valuetext') !== was,
        before,
      );
    };
    await late();
    const old = await share(page);
    await verdict(page, 'Every consumer is stopped');
    await scrub(page, 11);
    await act(page, 3, 'Kill');
    const runs = page.getByLabel('Runs');
    await runs.waitFor();
    equal(await runs.locator('option').count(), 2, 'runs');
    equal(await page.locator('.broker.s-down').count(), 1, 'dead brokers');
    await late();
    const branch = await share(page);
    ok(branch.digest !== old.digest, 'the branch went another way');
    equal(await page.locator('.broker.s-down').count(), 2, 'dead brokers in the branch');
    await suite.picture(page, 'branch-wide-light');
    await suite.accessible(page);
    await runs.selectOption('0');
    await page.waitForFunction(() => document.querySelector('label.runs select').value === '0');
    await late();
    equal([(await share(page)).at, (await share(page)).digest], [old.at, old.digest], 'the old run');
    await runs.selectOption('1');
    await late();
    equal((await share(page)).digest, branch.digest, 'the branch');
  });

  await suite.check('what was killed can be started again', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 25);
    await act(page, 1, 'Start');
    await scrub(page, 41);
    equal(await page.locator('.broker.s-down').count(), 0, 'dead brokers');
    equal((await verdicts(page)).filter((words) => words.includes('stopped')), [], 'stopped');
    equal(await page.locator('.head-line .isr.warn').count(), 0, 'partitions with a smaller ISR');
  });

  await suite.check('with reduced motion play goes from one notable change to the next', async (visit) => {
    const page = await visit.open('', { reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForFunction(() => document.querySelector('[role=slider]').getAttribute('aria-valuenow') !== '11000');
    equal(await at(page), 12_000, 'the first notable change');
    await page.getByRole('button', { name: 'Pause' }).click();
  });

  await suite.check('a link to the hour says how far it has come, and Escape stops it there', async (visit) => {
    const first = await visit.open('');
    // The address is written once somebody has moved.
    await first.keyboard.press('ArrowRight');
    await first.waitForFunction(() => location.hash.length > 1);
    const payload = new URL((await share(first)).link).hash.slice(1).split('&')[0];
    const hour = `#${payload}&at=1h&lang=en`;
    const page = await visit.open(hour);
    const bar = page.getByRole('progressbar');
    await bar.waitFor();
    ok((await page.locator('.travel').innerText()).includes('3600.000 s'), 'where it leads');
    const begun = Number(await bar.getAttribute('value'));
    await page.waitForFunction((then) => Number(document.querySelector('.travel progress').value) > then, begun);
    await suite.picture(page, 'travel-wide-light');
    await suite.accessible(page);
    // Nothing is done to a cluster that nobody sees.
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    const stopped = await at(page);
    ok(stopped > 0 && stopped < 3_600_000, `it stands at ${stopped} ms`);
    equal(await page.getByRole('button', { name: 'Play' }).count(), 1, 'paused');
    // Whoever has time arrives.
    await page.evaluate((hash) => { location.hash = hash; }, hour);
    await page.waitForFunction(() => document.querySelector('[role=slider]').getAttribute('aria-valuenow') === '3600000');
    equal(await bar.count(), 0, 'bars');
  });

  await suite.check('nothing moves while time stands still', async (visit) => {
    const page = await visit.open('');
    await pressUntil(page, 'ArrowRight', async () => (await page.locator('.flight').count()) > 0);
    const first = await page.locator('#stage').innerHTML();
    await page.evaluate(() => new Promise((done) => {
      let left = 30;
      const next = () => (left-- ? requestAnimationFrame(next) : done());
      next();
    }));
    equal(await page.locator('#stage').innerHTML(), first, 'the stage thirty frames later');
  });
}
