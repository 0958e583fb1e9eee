// What a person does on the page and reads off it, for the topics. It waits for what should be seen, and it
// deliberately knows no scenario.

/** The playhead, in milliseconds of simulated time. */
export const at = async (page) => Number(await page.getByRole('slider').getAttribute('aria-valuenow'));

/** Clicks into the scrubber at a moment; resolves when the playhead stands there. */
export async function scrub(page, seconds) {
  const slider = page.getByRole('slider');
  const end = Number(await slider.getAttribute('aria-valuemax'));
  // The wide page has lanes, whose upper edge holds no marks; the phone has a strip.
  const box = await page.locator('.lane-canvas, .strip-scrub').boundingBox();
  await page.mouse.click(box.x + (box.width * seconds * 1000) / end, box.y + 4);
  const off = (2 * end) / box.width + 1;
  await page.waitForFunction(
    ([wanted, most]) => {
      const now = Number(document.querySelector('[role=slider]').getAttribute('aria-valuenow'));
      return Math.abs(now - wanted) <= most && !document.querySelector('[aria-busy=true]');
    },
    [seconds * 1000, off],
  );
}

/** Presses keys until something is seen, at most `most` times; each press is done when the playhead has moved. */
export async function pressUntil(page, key, seen, most = 40) {
  for (let i = 0; i < most; i += 1) {
    if (await seen()) return;
    const before = await page.getByRole('slider').getAttribute('aria-valuetext');
    const events = await shared(page).catch(() => null);
    await page.keyboard.press(key);
    if (events === null) {
      await page.waitForFunction(
        (text) => document.querySelector('[role=slider]').getAttribute('aria-valuetext') !== text,
        before,
      );
    } else {
      await page.waitForFunction((hash) => location.hash !== hash, events);
    }
  }
  if (!(await seen())) throw new Error(`not seen after ${most} times ${key}`);
}

/** What the address says: it names the moment, to the event, and the digest of the cluster there. */
export async function shared(page) {
  const hash = await page.evaluate(() => location.hash);
  if (!hash) throw new Error('the address says nothing yet');
  return hash;
}

/** The moment and the digest of the Share box: made at the playhead, at the time of asking. */
export async function share(page) {
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const box = page.getByRole('dialog');
  const link = await box.locator('#share-link').inputValue();
  const frame = await box.locator('#share-frame').inputValue();
  const words = await box.innerText();
  await box.getByRole('button', { name: 'Close' }).click();
  await box.waitFor({ state: 'detached' });
  const options = new URLSearchParams(new URL(link).hash.slice(1).split('&').slice(1).join('&'));
  return { link, frame, words, at: options.get('at'), digest: options.get('d') };
}

/** Chooses an entry of a broker's menu on the stage; a broker that is down has a button that starts it. */
export async function act(page, broker, entry) {
  if (entry === 'Start') {
    await page.locator('#stage').getByRole('button', { name: `Start: broker ${broker}` }).click();
    return;
  }
  await page.getByRole('button', { name: new RegExp(`for broker ${broker}$`) }).click();
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
}

/** The verdicts, the one that hurts most first. */
export const verdicts = (page) => page.locator('#panel .card:not(.why-card) h3').allInnerTexts();

/** Waits for a verdict. */
export const verdict = (page, words) => page.locator('#panel .card h3', { hasText: words }).first().waitFor();

/** A count of the ledger, such as `delivered`. */
export const count = async (page, name) => {
  const row = page.locator('.counts tr', { has: page.getByRole('rowheader', { name, exact: true }) });
  return Number(await row.locator('td').innerText());
};

/** The control of a setting: a group of buttons or a switch. */
export const setting = (page, name) => page.locator('.settings').getByRole('group', { name, exact: true });

/** Opens one of the page's scenarios by the picker. */
export async function scenario(page, name) {
  await page.getByLabel('Scenario').selectOption({ label: name });
}
