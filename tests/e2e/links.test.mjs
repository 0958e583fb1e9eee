// Links: what they bring back, and what is said of those that were hurt. How a link is packed is tested natively.

import { equal, ok } from './harness.mjs';
import { act, at, scrub, share, verdict, verdicts } from './person.mjs';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The check of a link: CRC-32 in Crockford's base 32, high bits first. */
function check(text) {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let i = 0; i < 8; i += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  const bits = ((crc ^ 0xffffffff) >>> 0).toString(2).padStart(32, '0').padEnd(35, '0');
  return bits.match(/.{5}/g).map((five) => ALPHABET[parseInt(five, 2)]).join('');
}

/** A link of the codec without compression. */
function plain(scenario) {
  const body = `k0${Buffer.from(JSON.stringify(scenario)).toString('base64url')}`;
  return `#${body}.${check(body)}`;
}

const CLUSTER = { scenario: 1, topics: { orders: { partitions: 2, replication: 3 } } };

export default async function (suite) {
  await suite.check('a link opened in a new tab gives the same run at the same moment', async (visit) => {
    const page = await visit.open('');
    await act(page, 3, 'Pause (long GC)');
    await scrub(page, 25);
    const made = await share(page);
    const tab = await visit.open(made.link);
    // A slow machine is still on its way there.
    await tab.locator('[aria-busy]').waitFor({ state: 'detached' });
    equal(await at(tab), await at(page), 'the moment');
    const again = await share(tab);
    equal([again.at, again.digest], [made.at, made.digest], 'moment and digest');
    ok(again.words.includes('the run that was opened gave the digest of its link'), 'that it is the same run is said');
    equal(await tab.locator('#stage').innerText(), await page.locator('#stage').innerText(), 'the stage');
    equal(await verdicts(tab), await verdicts(page), 'verdicts');
    equal(await tab.locator('.note-bar').count(), 0, 'warnings');
    // What is done next is the same, too.
    for (const one of [page, tab]) {
      await act(one, 2, 'Kill');
      await scrub(one, 35);
    }
    equal((await share(tab)).digest, (await share(page)).digest, 'the digest ten seconds on');
  });

  await suite.check('the address bar says what is shown, once time stands still', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 20);
    const made = await share(page);
    ok((await page.evaluate(() => location.href)).startsWith(made.link.split('&lang')[0]), 'the address is the link');
    await page.reload();
    await visit.started(page);
    equal((await share(page)).digest, made.digest, 'the digest after a reload');
  });

  await suite.check('a digest that does not fit is said', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 14);
    const { link, digest } = await share(page);
    const other = await visit.open(link.replace(`d=${digest}`, 'd=00000000'));
    await other.locator('.note-bar').waitFor();
  });

  const whole = plain(CLUSTER);
  const hurt = [
    ['cut short', whole.slice(0, whole.length - 12), /cut short/],
    ['altered', whole.replace('k0ey', 'k0fy'), /changed/],
    ['huge', `#k0${'A'.repeat(70_000)}.${'0'.repeat(7)}`, /too large/],
    ['made by a newer version', plain({ ...CLUSTER, scenario: 2 }), /newer version/],
    ['in an unknown code', whole.replace('#k0', '#q0'), /code that is not known/],
    [
      'for a cluster that cannot be',
      plain({ scenario: 1, topics: { orders: { partitions: 2, replication: 9 } } }),
      /cannot be|out of range/,
    ],
    ['with a misspelt name', plain({ scenario: 1, topix: {} }), /not known here[\s\S]*topics/],
  ];

  await suite.check('the message of a bad link goes when one goes back, or on to a good one', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 25);
    const go = (hash) => page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await go(hurt[0][1]);
    await page.getByRole('alert').waitFor();
    await page.goBack();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await go(hurt[0][1]);
    await page.getByRole('alert').waitFor();
    await go(whole);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByText('A shared scenario, not from the gallery').first().waitFor();
  });

  await suite.check('a plain link opens', async (visit) => {
    const page = await visit.open(whole);
    equal(await page.getByRole('alert').count(), 0, 'complaints');
    await scrub(page, 8);
    equal(await page.locator('.head').count(), 2, 'columns');
  });

  for (const [how, fragment, said] of hurt) {
    await suite.check(`a link that is ${how} is explained, and what runs stays as it is`, async (visit) => {
      const page = await visit.open('');
      await scrub(page, 25);
      const before = await share(page);
      await page.evaluate((hash) => {
        location.hash = hash;
      }, fragment);
      const alert = page.getByRole('alert');
      await alert.waitFor();
      ok(said.test(await alert.innerText()), `found: ${await alert.innerText()}`);
      await suite.accessible(page);
      await alert.getByRole('button', { name: 'Close' }).click();
      const after = await share(page);
      equal([after.at, after.digest], [before.at, before.digest], 'moment and digest');
      await verdict(page, 'Every consumer is stopped');
      // Opened at once, it leads to the first scenario, with the same words.
      const fresh = await visit.open(fragment);
      ok(said.test(await fresh.getByRole('alert').innerText()), 'said on a fresh page');
      await verdict(fresh, 'Every promise kept so far');
      if (how === 'cut short') await suite.picture(fresh, 'bad-link-wide-light');
    });
  }
}
