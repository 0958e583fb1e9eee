// What there is room for: the story at 1024 × 768 and in low windows, long names, many clients, kept runs. What the
// things shown mean is told elsewhere.

import { readFileSync } from 'node:fs';
import { equal, ok } from './harness.mjs';
import { act, scenario, scrub } from './person.mjs';

const SMALL = { width: 1024, height: 768 };
const LAPTOP = { width: 1280, height: 720 };

/** Six clients, some with long names: rack names, topic and group names of real clusters are no shorter. */
const CROWDED = readFileSync(new URL('crowded.link', import.meta.url), 'utf8').trim();

/** What is cut: things that overflow their boxes, or stand below the edge of the stage or of the author's card. */
const cut = (page, whole = true) => page.evaluate((all) => {
  const found = [];
  const named = (e) => `${e.className}: ${e.textContent.trim().slice(0, 50)}`;
  const over = (e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1;
  for (const e of document.querySelectorAll('.client, .controller, .replica, .story, .caption, .choices .btn')) {
    if (over(e)) found.push(`too full: ${named(e)}`);
  }
  const above = (things, edge) => {
    const bottom = document.querySelector(edge)?.getBoundingClientRect().bottom;
    for (const e of document.querySelectorAll(things)) {
      if (e.getBoundingClientRect().bottom > bottom) found.push(`below the edge: ${named(e)}`);
    }
  };
  if (all) above('.client', '.stage');
  above('.choices .btn', '.story');
  // A broker's button stands in the broker's box.
  for (const e of document.querySelectorAll('.broker-head .btn')) {
    const box = e.closest('.broker').getBoundingClientRect();
    if (e.getBoundingClientRect().bottom > box.bottom + 1) found.push(`outside its broker: ${named(e)}`);
  }
  return found;
}, whole);

export default async function (suite) {
  for (const locale of ['en-US', 'zh-CN']) {
    await suite.check(`nothing of the story is cut at 1024 × 768 and 1280 × 720, ${locale}`, async (visit) => {
      for (const size of [SMALL, LAPTOP]) {
        const page = await visit.open('', { size, locale });
        for (const seconds of [11, 12.4, 20, 25]) {
          if (seconds > 11) await scrub(page, seconds);
          equal(await cut(page), [], `what is cut at ${seconds} s in ${size.width} px`);
        }
        await suite.picture(page, `room-${size.width}-${locale}`);
      }
    });
  }

  await suite.check('the two other scenarios of the story fit at 1024 × 768 too', async (visit) => {
    const page = await visit.open('', { size: SMALL });
    for (const name of ['The same cluster today', 'The cure: offsets RF 3']) {
      await scenario(page, name);
      await scrub(page, 25);
      equal(await cut(page), [], `what is cut in ${name}`);
    }
  });

  await suite.check('open settings leave the stage in sight at 1024 px', async (visit) => {
    const page = await visit.open('', { size: SMALL });
    await page.locator('.left.folded button').first().click();
    await page.locator('.left .settings').waitFor();
    const stage = await page.locator('#stage').boundingBox();
    ok(stage.width > 600, `the stage is ${stage.width} px wide`);
  });

  await suite.check('a run that is kept takes nothing from the stage', async (visit) => {
    const page = await visit.open('', { size: SMALL });
    const height = async () => (await page.locator('#stage').boundingBox()).height;
    await scrub(page, 25);
    const before = await height();
    for (const [broker, seconds] of [[3, 11], [2, 10]]) {
      await scrub(page, seconds);
      await act(page, broker, 'Kill');
    }
    await page.getByLabel('Runs').waitFor();
    equal(await height(), before, 'height of the stage');
    const name = await page.getByRole('textbox', { name: 'Name of this run' }).boundingBox();
    ok(name.y + name.height < SMALL.height, 'the name of the run is in sight');
    equal(await cut(page), [], 'what is cut');
  });

  await suite.check('six clients with long names keep to their cards, and heads stay while they are scrolled to', async (visit) => {
    for (const size of [SMALL, LAPTOP, 'wide']) {
      const page = await visit.open(CROWDED, { size });
      for (const seconds of [8, 25]) {
        await scrub(page, seconds);
        equal(await cut(page, false), [], `what is cut at ${seconds} s`);
      }
      const numbers = await page.locator('.head .head-line b').allTextContents();
      equal(numbers, [0, 1, 2, 3, 4, 5].map((n) => `orders-placed-and-paid-${n}`), 'names of the columns');
      const seen = await page.locator('.head b').first().evaluate((b) => {
        const [box, last] = [b.getBoundingClientRect(), document.createRange()];
        last.selectNodeContents(b.lastChild);
        return last.getBoundingClientRect().right <= box.right + 1;
      });
      ok(seen, 'the number of a partition is seen, however long its name');
      await page.locator('.client').last().scrollIntoViewIfNeeded();
      const [stage, heads] = [await page.locator('#stage').boundingBox(), await page.locator('.heads').boundingBox()];
      ok(heads.y >= stage.y - 1 && heads.y < stage.y + 60, `the heads stand ${heads.y - stage.y} px below the edge`);
    }
  });

  await suite.check('a cut, two dead brokers and a client with lost records keep to their boxes at 1280 × 720', async (visit) => {
    for (const locale of ['en-US', 'zh-CN']) {
      const page = await visit.open('', { size: LAPTOP, locale });
      const [off, kill] = locale === 'en-US' ? ['Cut off from brokers', 'Kill'] : ['断开与 broker 的连接', '杀掉'];
      await scrub(page, 9);
      await does(page, 2, off);
      await scrub(page, 10.5);
      ok((await page.locator('.caption').innerText()).includes('broker 2'), 'the cut is what the caption says');
      await does(page, 2, kill);
      await scrub(page, 22);
      await page.locator('.client.loses').waitFor();
      equal(await crossed(page), [], `what stands on something else, ${locale}`);
      await suite.picture(page, `room-lost-${locale}`);
    }
  });

  await suite.check('what is open is named in full, changed or not, and tables of the text need no scrolling', async (visit) => {
    for (const size of [LAPTOP, 'wide']) {
      const page = await visit.open('', { size });
      await scrub(page, 9);
      await act(page, 2, 'Kill');
      const picker = await page.getByLabel('Scenario').evaluate((select) => {
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = getComputedStyle(select).font;
        return { has: select.clientWidth, needs: pen.measureText(select.selectedOptions[0].text).width };
      });
      ok(picker.needs + 20 < picker.has, `the title takes ${picker.needs} of ${picker.has} px`);
    }
    const page = await visit.open('', { size: 'wide' });
    await page.getByRole('tab', { name: 'Text' }).click();
    const wide = await page.locator('#panel .table-scroll').evaluateAll((all) => (
      all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute('aria-label'))));
    ok(!wide.includes('Controllers') && !wide.includes('Brokers'), `tables that are cut: ${wide}`);
  });

  await suite.check('what flies meets the things that are drawn: both are measured alike, high and low', async (visit) => {
    for (const size of ['wide', SMALL]) {
      const page = await visit.open('', { size });
      for (let i = 0; i < 60 && !(await ends(page)).length; i += 1) await page.keyboard.press('ArrowRight');
      ok((await ends(page)).length, 'a client has something in flight');
      equal((await ends(page)).filter((end) => Math.abs(end.off) > 1), [], 'ways that end beside a client');
    }
  });
}

/** Chooses the entry of a broker's menu, in whatever language the page is. */
const does = async (page, broker, entry) => {
  await page.locator('.broker').nth(broker - 1).locator('.menu > .btn').last().click();
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
};

/** Lines of brokers and clients that stand on one another, and names that leave their heads. */
const crossed = (page) => page.evaluate(() => {
  const found = [];
  const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).position !== 'absolute';
  for (const box of document.querySelectorAll('.broker-head, .client')) {
    const lines = [...box.children].filter(seen);
    lines.slice(1).forEach((e, i) => {
      const above = lines[i].getBoundingClientRect().bottom;
      if (e.getBoundingClientRect().top < above - 2) found.push(`${lines[i].textContent} / ${e.textContent}`);
    });
    const inside = box.getBoundingClientRect();
    for (const e of box.querySelectorAll('.i-cut, .client-line')) {
      const its = e.getBoundingClientRect();
      if (its.right > inside.right + 1 || its.bottom > inside.bottom + 1) found.push(`leaves its box: ${box.textContent}`);
    }
  }
  return found;
});

/** Where ways to and from clients end: how far that is from the upper edge of the card. */
const ends = (page) => page.evaluate(() => {
  const edge = document.querySelector('.client').getBoundingClientRect().top;
  const stage = document.querySelector('.motion').getBoundingClientRect().top;
  return [...document.querySelectorAll('.flight')].filter((flight) => /checkout/.test(flight.textContent)).map((flight) => {
    const lowest = Math.max(...flight.querySelector('.way').getAttribute('d').split(/[ML ]+/).filter(Boolean)
      .filter((_, i) => i % 2 === 1).map(Number));
    return { name: flight.textContent, off: Math.round(stage + lowest - edge) };
  });
});
