// The page for everyone: by keyboard alone, under axe's rules, at 320 px, without a style attribute.

import { equal, ok } from './harness.mjs';
import { at, pressUntil, scrub, verdict } from './person.mjs';

/** Moves the focus by Tab until it stands on what matches. */
async function tabTo(page, selector, most = 150) {
  for (let i = 0; i < most; i += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
  }
  throw new Error(`Tab never came to ${selector}`);
}

const focused = (page) => page.evaluate(() => document.activeElement?.id);

/** The states of the page that are looked at, each reached from the one before. */
const VIEWS = [
  ['opened', async () => {}],
  ['broken', async (page) => scrub(page, 25)],
  ['why', async (page) => page.locator('#panel .card button').first().click()],
  ['inspect', async (page) => page.locator('.replica').first().click()],
  ['log', async (page) => page.locator('#tab-log').click()],
  ['text', async (page) => page.locator('#tab-text').click()],
  ['share', async (page) => page.locator('.top .primary').click()],
];

export default async function (suite) {
  await suite.check('the story can be gone through by keyboard alone', async (visit) => {
    const page = await visit.open('');
    // To the kill, by notable changes.
    await pressUntil(page, 'Shift+ArrowRight', async () => (await page.locator('.broker.s-down').count()) > 0);
    equal(await at(page), 12_000, 'the kill');
    await pressUntil(page, 'Shift+ArrowRight', async () => (await page.locator('#panel .card.bad').count()) > 0);
    await verdict(page, 'Every consumer is stopped');
    // Why?
    await tabTo(page, '#panel .card.bad button');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.id === 'why');
    await page.locator('#why', { hasText: 'offsets.topic.replication.factor' }).waitFor();
    // Along the chain, back to the kill.
    await tabTo(page, '#why .linky[aria-label*="12.000"]');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('[role=slider]').getAttribute('aria-valuenow') === '12000');
    // The stage is a grid: one stop of Tab, then arrows.
    await page.keyboard.press('Tab');
    await tabTo(page, '[data-cell]');
    await page.keyboard.press('Home');
    const start = await focused(page);
    await page.keyboard.press('ArrowRight');
    ok((await focused(page)) !== start, 'an arrow moved the focus');
    await page.keyboard.press('Enter');
    await page.locator('#tab-inspect[aria-selected=true]').waitFor();
    // A menu leaves the focus where space plays and Tab goes on.
    await tabTo(page, 'button[aria-haspopup=menu][aria-label$="broker 2"]');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'menuitem');
    const entry = () => page.evaluate(() => document.activeElement.textContent);
    for (let i = 0; i < 12 && (await entry()) !== 'Pause (long GC)'; i += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('.broker.s-paused').waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    // The broker that died has a button that starts it.
    await tabTo(page, 'button[aria-label="Start: broker 1"]');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => !document.querySelector('.broker.s-down'));
    // Play and pause, where space is nobody else's.
    await tabTo(page, '[role=slider]');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play' }).waitFor();
    // All keys, and Escape out of them.
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  await suite.check('a broker is killed by a few keys, and taken back by two', async (visit) => {
    const page = await visit.open('');
    await page.keyboard.press('g');
    await page.waitForFunction(() => document.activeElement?.matches('[data-cell]'));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('m');
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'menuitem');
    equal(await page.evaluate(() => document.activeElement.closest('[data-menu]').dataset.menu), 'menu-b2', 'whose');
    equal(await page.evaluate(() => document.activeElement.textContent), 'Kill', 'the first entry');
    await page.keyboard.press('Enter');
    await page.locator('.broker.s-down', { hasText: 'broker 2' }).waitFor();
    await page.keyboard.press('Control+z');
    await page.locator('.broker.s-down').waitFor({ state: 'detached' });
    // In any cell of its row, by the keys that browsers have for it too.
    await page.keyboard.press('g');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+F10');
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'menuitem');
    await page.keyboard.press('Escape');
    equal(await focused(page), 'menu-b2', 'Escape leaves the focus at the button');
  });

  for (const [scheme, locale] of [['light', 'en-US'], ['dark', 'en-US'], ['light', 'zh-CN']]) {
    await suite.check(`axe finds nothing in the main views: ${scheme}, ${locale}`, async (visit) => {
      const page = await visit.open('', { scheme, locale });
      for (const [name, go] of VIEWS) {
        await go(page);
        await suite.accessible(page).catch((error) => {
          throw new Error(`${name}: ${error.message}`);
        });
        equal(await page.locator('[style]').count(), 0, `style attributes in the view ${name}`);
        if (scheme === 'dark' || locale === 'zh-CN') {
          await suite.picture(page, `${name}-wide-${scheme}-${locale.slice(0, 2)}`);
        }
      }
      const lang = await page.evaluate(() => document.documentElement.lang);
      equal(lang, locale === 'zh-CN' ? 'zh-Hans' : 'en', 'the language of the document');
    });
  }

  await suite.check('axe finds nothing on a phone, and no sheet scrolls sideways at 320 px', async (visit) => {
    for (const [size, scheme] of [['phone', 'light'], ['phone', 'dark'], [{ width: 320, height: 640 }, 'light']]) {
      const page = await visit.open('', { size, scheme });
      await scrub(page, 25);
      const sheets = await page.locator('.phone-tabs button').count();
      equal(sheets, 4, 'sheets');
      for (let i = 0; i < sheets; i += 1) {
        await page.locator('.phone-tabs button').nth(i).click();
        await page.locator('.phone-tabs button').nth(i).and(page.locator('[aria-current=page]')).waitFor();
        await suite.accessible(page);
        await suite.noSidewaysScroll(page);
        equal(await page.locator('[style]').count(), 0, 'style attributes');
        if (size === 'phone') await suite.picture(page, `sheet-${i + 1}-phone-${scheme}`);
      }
    }
  });

  await suite.check('changes are told to those who do not see them', async (visit) => {
    const page = await visit.open('');
    await page.keyboard.press('Shift+ArrowRight');
    const told = page.locator('[role=status][aria-live=polite]', { hasText: 'broker 1 is killed' });
    await told.waitFor({ state: 'attached' });
  });

  await suite.check('a verdict is told as soon as it holds', async (visit) => {
    const page = await visit.open('');
    await scrub(page, 25);
    const said = page.locator('[role=status][aria-live=polite]', { hasText: 'Every consumer is stopped' });
    await said.waitFor({ state: 'attached' });
  });

  await suite.check('play is among the first five stops of Tab', async (visit) => {
    for (const [address, size] of [['', 'wide'], ['', 'phone'], ['embed/1/', 'wide']]) {
      const page = await visit.open(address, { size });
      await tabTo(page, '[aria-label=Play]', 5);
    }
  });

  await suite.check('heads, names, ruler and clock stay when what they are over scrolls', async (visit) => {
    const page = await visit.open('', { size: { width: 1024, height: 600 } });
    const top = (of) => page.locator(of).first().evaluate((e) => Math.round(e.getBoundingClientRect().top));
    const stage = await top('.stage');
    await page.locator('.stage').evaluate((e) => e.scrollTo(40, 400));
    ok((await page.locator('.stage').evaluate((e) => e.scrollTop)) > 0, 'the stage scrolls');
    equal(await top('.heads'), stage, 'the heads');
    const lanes = await top('.lanes');
    await page.locator('.lanes').evaluate((e) => e.scrollTo(0, 200));
    equal(await top('.ruler'), lanes, 'the ruler');
  });

  await suite.check('all six columns and the clients are seen between the panels', async (visit) => {
    for (const size of [{ width: 1440, height: 900 }, { width: 1024, height: 768 }]) {
      const page = await visit.open('', { size });
      await scrub(page, 25);
      const seen = await page.evaluate(() => {
        const stage = document.querySelector('.stage').getBoundingClientRect();
        const inside = (e) => {
          const r = e.getBoundingClientRect();
          return r.left >= stage.left && r.right <= stage.right && r.bottom <= stage.bottom;
        };
        const all = (of) => [...document.querySelectorAll(of)];
        return [all('.replica').every(inside), all('.client').every(inside), all('.replica').length];
      });
      equal(seen, [true, true, 18], `${size.width} px`);
      // No name is cut, and no label lies under its control.
      const cut = await page.evaluate(() => [...document.querySelectorAll('.client-now, .setting-name, .controller b')]
        .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
        .map((e) => e.textContent));
      equal(cut, [], 'words that are cut');
      const under = await page.evaluate(() => [...document.querySelectorAll('.setting')].filter((s) => {
        const [name, control] = [s.firstElementChild, s.lastElementChild].map((e) => e.getBoundingClientRect());
        return name.right > control.left && name.bottom > control.top && name.top < control.bottom;
      }).map((s) => s.textContent));
      equal(under, [], 'labels under their control');
    }
  });

  await suite.check('what a finger touches on a phone is at least 44 px', async (visit) => {
    const page = await visit.open('', { size: 'phone' });
    await scrub(page, 25);
    const small = await page.evaluate(() => [...document.querySelectorAll('button, select, summary, a[href]')]
      .filter((e) => e.getClientRects().length && e.getBoundingClientRect().height < 43.5 && !e.closest('.replica'))
      .map((e) => `${e.className} ${e.textContent.slice(0, 30)} ${e.getBoundingClientRect().height}`));
    equal(small, [], 'small targets');
  });

  await suite.check('single-letter keys can be turned off, and that is remembered', async (visit) => {
    const page = await visit.open('');
    await page.keyboard.press('?');
    await page.getByRole('switch', { name: /single/i }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.reload();
    await visit.started(page);
    await page.keyboard.press('?');
    // A key that still acts shows that keys were listened to all the while.
    await page.keyboard.press('Shift+ArrowRight');
    await page.waitForFunction(() => document.querySelector('[role=slider]').getAttribute('aria-valuenow') === '12000');
    equal(await page.getByRole('dialog').count(), 0, 'dialogs');
  });
}
