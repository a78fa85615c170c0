import type { Browser, Page } from 'playwright-core';
import { DashboardStage, token } from '../test/browser/dashboard-stage.ts';
import { sampleService, sampleServices } from '../test/browser/sample-rows.ts';
import { startBrowser } from '../test/services/browser.ts';
import { besideMedian, type BenchmarkSuite } from './benchmark.ts';

const few = 10;
const many = 10_000;
const repeats = 11;
/** Searches on each page: typing searches with every key. */
const keys = 5;

type Figure = 'dashboard-paint' | 'dashboard-filter';

/** The dashboard in a real browser with 10,000 Services, compared with 10. */
export const suite: BenchmarkSuite<Figure> = {
  name: 'dashboard',
  long: true,
  bars: {
    'dashboard-paint': { of: 'ratio', comparison: 'at most', limit: 2, unit: 'ms' },
    'dashboard-filter': { of: 'ratio', comparison: 'at most', limit: 2, unit: 'ms' },
  },
  async run() {
    const browser = await startBrowser();
    try {
      const baseline = await reconcile(browser, few);
      const value = await reconcile(browser, many);
      return {
        'dashboard-paint': besideMedian(value.paints, baseline.paints),
        'dashboard-filter': besideMedian(value.filters, baseline.filters),
      };
    } finally {
      await browser.close();
    }
  },
};

/** Times until the list is painted, and until a search has left one Service of it. */
async function reconcile(
  browser: Browser,
  count: number,
): Promise<{ paints: readonly number[]; filters: readonly number[] }> {
  const stage = new DashboardStage();
  for (let index = sampleServices.length; index < count; index += 1) {
    stage.rowStore.set('service', sampleService(`load/s-${String(index).padStart(5, '0')}`));
  }
  await stage.open();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(watchForRows);
  try {
    await page.goto(`${stage.url}?token=${token}`);
    await page.getByText(`${count} of ${count}`).waitFor();
    const paints: number[] = [];
    const filters: number[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      paints.push(await paint(page, count));
      for (let key = 0; key < keys; key += 1) filters.push(await filter(page, count));
    }
    return { paints, filters };
  } finally {
    await page.close();
    await stage.close();
  }
}

/** Runs in the page, with its own clock: the time of the test driver does not count. */
const watchForRows = `window.painted = new Promise((resolve) => {
  const watch = new MutationObserver(() => {
    if (document.querySelector('[role=option]') === null) return;
    watch.disconnect();
    requestAnimationFrame(() => resolve(performance.now()));
  });
  watch.observe(document, { childList: true, subtree: true });
})`;
const search = (left: string) => `new Promise((resolve) => {
  const field = document.querySelector('input[type=search]');
  const started = performance.now();
  const watch = new MutationObserver(() => {
    if (!document.body.textContent.includes(${JSON.stringify(left)})) return;
    watch.disconnect();
    requestAnimationFrame(() => resolve(performance.now() - started));
  });
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
  field.value = 'shop/web';
  field.dispatchEvent(new Event('input', { bubbles: true }));
})`;

/** From the reload until the frame after Services are on the screen; then waits for the rest of them. */
async function paint(page: Page, count: number): Promise<number> {
  await page.reload();
  const elapsed = await page.evaluate<number>('window.painted');
  await page.getByText(`${count} of ${count}`).waitFor();
  return elapsed;
}

/** From the last key until the frame after the list has changed. */
async function filter(page: Page, count: number): Promise<number> {
  const elapsed = await page.evaluate<number>(search(`1 of ${count}`));
  await page.getByLabel('Search Services').fill('');
  await page.getByText(`${count} of ${count}`).waitFor();
  return elapsed;
}
