// The story and its two neighbours, as a new user goes through them. What a keyboard alone can do is told elsewhere.

import { equal, ok } from './harness.mjs';
import { act, at, count, pressUntil, scenario, scrub, setting, verdict, verdicts } from './person.mjs';

const STORY = 'As it happened (client 2.3)';
const TODAY = 'The same cluster today';
const CURE = 'The cure: offsets RF 3';

/** How many records the group was given, and the offset that it last committed for a partition. */
const delivered = (page) => count(page, 'delivered');

export default async function (suite) {
  await suite.check('the story opens with the cluster at work, before anything was broken', async (visit) => {
    const page = await visit.open('');
    equal(await page.locator('#stage').count(), 1, 'stages');
    equal(await at(page), 11_000, 'the playhead');
    equal(await page.locator('.replica.r-leader').count(), 6, 'leaders');
    equal(await page.getByLabel('Scenario').inputValue(), '0', 'the scenario');
    await verdict(page, 'Every promise kept so far');
    ok((await delivered(page)) > 0, 'records were delivered');
  });

  await suite.check('the story: broker 1 dies, every consumer stops, and Why? names the setting', async (visit) => {
    const page = await visit.open('');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.locator('.flight').first().waitFor({ state: 'attached' });
    await verdict(page, 'Every consumer is stopped');
    await page.getByRole('button', { name: 'Pause' }).click();
    ok((await at(page)) >= 12_000, 'the broker was killed at 12 s');
    await page.getByRole('button', { name: 'Why? Every consumer is stopped' }).click();
    const why = page.locator('#why');
    await why.getByText('offsets.topic.replication.factor').first().waitFor();
    ok((await why.getByRole('listitem').count()) > 3, 'the chain has several causes');
    await suite.picture(page, 'why-wide-light');
    // Each cause is a moment to jump to.
    await why.getByRole('button', { name: /12\.000 s/ }).first().click();
    await page.waitForFunction(() => document.querySelector('[role=slider]').getAttribute('aria-valuenow') === '12000');
  });

  await suite.check('skipping the wait leads from the kill to the fencing; data fails over', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 13);
    const skip = page.getByRole('button', { name: 'Skip the wait' });
    const moved = page.locator('.head-line .isr', { hasText: /^ISR (2,3|3,2)$/ });
    for (let i = 0; i < 30 && !(await moved.count()); i += 1) {
      const from = await page.getByRole('slider').getAttribute('aria-valuetext');
      await skip.click();
      await page.waitForFunction(
        (text) => document.querySelector('[role=slider]').getAttribute('aria-valuetext') !== text,
        from,
      );
    }
    // What had been fetched may still be handed over in the instant in which a dead coordinator passes for a live one.
    await scrub(page, 24);
    const before = await delivered(page);
    await scrub(page, 30);
    equal(await page.locator('.head-line .isr.warn').count(), 6, 'partitions whose ISR is smaller than their replicas');
    equal(await page.locator('.replica.r-leader').count(), 6, 'leaders');
    await verdict(page, 'Every consumer is stopped');
    equal(await delivered(page), before, 'nothing was delivered since');
    await page.locator('.client.stuck', { hasText: 'COORDINATOR_NOT_AVAILABLE' }).waitFor();
  });

  await suite.check('the same cluster today: consumers read on but cannot commit', async (visit) => {
    const page = await visit.open('');
    await scenario(page, TODAY);
    await page.waitForFunction(() => document.querySelector('[role=slider]').getAttribute('aria-valuenow') === '11000');
    await verdict(page, 'Every promise kept so far');
    await scrub(page, 25);
    await verdict(page, 'Group billing reads in part and cannot commit');
    const before = await delivered(page);
    await scrub(page, 35);
    ok((await delivered(page)) > before, 'records are delivered all the while');
    equal((await verdicts(page)).filter((words) => words.includes('Every consumer is stopped')), [], 'that verdict');
    await suite.picture(page, 'today-wide-light');
  });

  await suite.check('the cure: broker 1 dies and nobody notices', async (visit) => {
    const page = await visit.open('');
    await scenario(page, CURE);
    await scrub(page, 20);
    const before = await delivered(page);
    await scrub(page, 35);
    ok((await delivered(page)) > before, 'records are delivered');
    equal((await verdicts(page)).filter((words) => /stopped|commit|lost|refused/.test(words)), [], 'what hurts');
    equal(await page.locator('.client.stuck').count(), 0, 'stuck clients');
    await page.locator('.broker.s-down').waitFor();
  });

  await suite.check('each of the three is one click from the others; the page says which it shows', async (visit) => {
    const page = await visit.open('');
    for (const name of [CURE, STORY, TODAY]) {
      await scenario(page, name);
      await page.waitForFunction(
        (wanted) => document.querySelector('select.scenario').selectedOptions[0].label === wanted,
        name,
      );
    }
  });

  await suite.check('the verdict offers the cure, which begins a run with that one setting changed', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 30);
    await page.getByRole('button', { name: 'Try offsets RF 3' }).click();
    await page.waitForFunction(() => !document.querySelector('.client.stuck'));
    equal((await verdicts(page)).filter((words) => words.includes('stopped')), [], 'stopped');
    await page.getByRole('button', { name: 'Back to the run before' }).click();
    await verdict(page, 'Every consumer is stopped');
  });

  for (const [acks, lost] of [['1', true], ['all', false]]) {
    const much = lost ? 'loses' : 'loses no';
    await suite.check(`acks=${acks}: a leader cut off and then killed ${much} acknowledged records`, async (visit) => {
      const page = await visit.open('');
      await setting(page, 'acks').getByRole('button', { name: acks, exact: true }).click();
      await act(page, 1, 'Cut off from brokers');
      await scrub(page, 11.9);
      await act(page, 1, 'Kill');
      await scrub(page, 35);
      const found = (await verdicts(page)).filter((words) => /acknowledged records? lost/.test(words));
      equal(found.length, lost ? 1 : 0, 'verdicts of lost records');
      equal((await count(page, 'lost')) > 0, lost, 'lost records in the ledger');
      if (lost) await suite.picture(page, 'lost-wide-light');
    });
  }

  await suite.check('min.insync.replicas above what is alive: nothing is written, and why', async (visit) => {
    const page = await visit.open('');
    await setting(page, 'acks').getByRole('button', { name: 'all', exact: true }).click();
    const more = setting(page, 'min.insync.replicas').getByRole('button', { name: /more/ });
    await more.click();
    await setting(page, 'min.insync.replicas').getByText('2', { exact: true }).waitFor();
    await more.click();
    await setting(page, 'min.insync.replicas').getByText('3', { exact: true }).waitFor();
    await scrub(page, 35);
    await verdict(page, 'Writes of checkout stand still');
    await page.locator('#panel .card', { hasText: 'min.insync.replicas is 3' }).waitFor();
    equal(await page.locator('.head-line .isr.danger').count(), 6, 'partitions below the minimum');
  });

  await suite.check('a set-up setting begins a new run at the same moment, and cannot ask for what cannot be', async (visit) => {
    const page = await visit.open('');
    const factor = setting(page, 'replication factor (begins a new run)').first();
    ok(await factor.getByRole('button', { name: /more/ }).isDisabled(), 'no factor above the number of brokers');
    await factor.getByRole('button', { name: /less/ }).click();
    await page.waitForFunction(() => document.querySelectorAll('.broker .replica').length === 12);
    equal(await at(page), 11_000, 'the moment');
    await page.getByRole('button', { name: 'Back to the run before' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.broker .replica').length === 18);
  });

  await suite.check('pictures of the story after the kill', async (visit) => {
    await suite.pictures(visit, 'story', '', async (page) => scrub(page, 25));
    for (const size of ['wide', 'phone']) {
      const page = await visit.open('', { size, locale: 'zh-CN' });
      await scrub(page, 25);
      await suite.picture(page, `story-${size}-light-zh`);
    }
  });

  await suite.check('what happened can be read as sentences and as tables', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 25);
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.locator('#panel').getByText('broker 1 is killed').first().waitFor();
    await page.getByRole('tab', { name: 'Text' }).click();
    await page.locator('#panel').getByRole('table').first().waitFor();
    await page.locator('#panel').getByText('Every consumer is stopped').first().waitFor();
    await pressUntil(page, 'Shift+ArrowLeft', async () => (await at(page)) <= 12_000);
  });
}
