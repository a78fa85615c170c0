import path from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { prepareBrowser, startBrowser } from '../services/browser.ts';
import { isAvailable } from '../services/missing.ts';
import { patienceMs } from '../services/wait-for.ts';
import { DashboardStage, token } from './dashboard-stage.ts';
import { sampleService } from './sample-rows.ts';

/** Directory for screenshots of the pages, to review by eye; none are taken without it. */
const pictures = process.env['CAUSEWAY_SCREENSHOTS'];

describe.runIf(await isAvailable(prepareBrowser))('the dashboard in a real browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let stage: DashboardStage;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  beforeEach(async () => {
    stage = new DashboardStage();
    await stage.open();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(patienceMs);
    page = await context.newPage();
    complaints.length = 0;
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    await context.close();
    await stage.close();
    expect(complaints).toEqual([]);
  });

  const enter = async (hash = '') => {
    await page.goto(`${stage.url}?token=${token}${hash}`);
    await page.getByText('live', { exact: true }).waitFor();
  };
  const picture = async (name: string) => {
    if (pictures === undefined) return;
    await page.screenshot({ path: path.join(pictures, `${name}.png`) });
  };
  const options = () => page.getByRole('option');

  test('shows nothing without the token, and keeps the token out of the address', async () => {
    const refused = await page.goto(stage.url);
    expect(refused?.status()).toBe(401);
    expect(await page.textContent('body')).toContain('requires its token');
    await enter();
    expect(page.url()).not.toContain(token);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  });

  test('lists Services with address, provider and the reason of a problem', async () => {
    await enter();
    await page.getByText('5 of 5').waitFor();
    const failed = options().filter({ hasText: 'shop/api' });
    expect(await failed.textContent()).toContain('belongs to shop/web');
    await page.getByRole('button', { name: /^Not served/ }).click();
    await page.getByText('1 of 5').waitFor();
    await expect.poll(() => options().count()).toBe(1);
  });

  test.each([1280, 820, 390])('the reason can be read at a width of %i', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await enter();
    const failed = options().filter({ hasText: 'shop/api' });
    const box = await failed.getByText('belongs to shop/web').boundingBox();
    expect(box?.x ?? -1).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    expect(box?.width).toBeGreaterThan(80);
    await picture(`reason-${width}`);
  });

  test('shows changes as they happen', async () => {
    await enter();
    const row = options().filter({ hasText: 'shop/search' });
    await row.filter({ hasText: 'pending' }).waitFor();
    stage.rowStore.set('service', sampleService('shop/search', { addresses: ['203.0.113.77'] }));
    await row.filter({ hasText: '203.0.113.77' }).waitFor();
    stage.rowStore.remove('service', 'shop/search');
    await row.waitFor({ state: 'detached' });
  });

  test('has elements only for visible rows, with any number of Services', async () => {
    for (let index = 0; index < 10_000; index += 1) {
      const name = String(index).padStart(5, '0');
      stage.rowStore.set('service', sampleService(`load/s-${name}`));
    }
    await enter();
    await page.getByText('10005 of 10005').waitFor();
    await expect.poll(() => options().count()).toBeLessThan(60);
    await page.getByLabel('Search Services').fill('s-0999');
    await page.getByText('10 of 10005').waitFor();
    await page.getByLabel('Search Services').fill('');
    await page.getByRole('listbox').focus();
    await page.keyboard.press('End');
    await page.getByRole('option', { name: 'serving shop/web' }).waitFor();
    await picture('services-10000');
  });

  test('works with the keyboard alone', async () => {
    await enter();
    await page.getByText('5 of 5').waitFor();
    // Nothing has the focus yet, nor after going back.
    for (const key of ['j', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'night/batch' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor();
    await page.keyboard.press('k');
    await page.getByRole('option', { selected: true, name: 'legacy/erp' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('shop web');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'shop/web' }).waitFor();
    const map = page.getByRole('img', { name: /through the gateway gateway-a to 3 of 3/ });
    await map.waitFor();
    await picture('path');
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor();
    await page.keyboard.press('2');
    await page.getByRole('heading', { name: 'gateway-c' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
  });

  test('reports a lost connection, keeps its content, and reconnects', async () => {
    await enter();
    const { port } = new URL(stage.url);
    await stage.shut();
    await page.getByText('connection lost, trying again').waitFor();
    await expect.poll(() => options().count()).toBe(5);
    stage.rowStore.remove('service', 'shop/api');
    await stage.open(Number(port));
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('4 of 4').waitFor();
  });

  test('shows markup from the cluster as text', async () => {
    const message = '<img src=x onerror="document.title=\'taken\'"><script>1</script>';
    stage.rowStore.set('service', sampleService('evil/one', { state: 'not-served', message }));
    await enter();
    const row = options().filter({ hasText: 'evil/one' });
    expect(await row.textContent()).toContain('<img src=x');
    expect(await page.title()).toBe('Causeway');
  });

  const views = [
    'services',
    'services/shop/web',
    'gateways',
    'pools',
    'backends',
    'idle',
    'events',
  ];
  const checks = [
    { name: 'light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
    { name: 'dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
    { name: 'phone', viewport: { width: 390, height: 780 }, colorScheme: 'light' },
  ] as const;
  test.each(checks)(
    'axe finds nothing serious ($name)',
    async ({ name, viewport, colorScheme }) => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await enter();
      await page.evaluate(axe.source);
      for (const view of views) {
        await page.evaluate(`location.hash = '#${view}'`);
        if (view.includes('/')) await page.getByRole('img', { name: /From a client/ }).waitFor();
        await picture(`${name}-${view.replaceAll('/', '-')}`);
        expect(await findViolations(page)).toEqual([]);
        const isWide = await page.evaluate('document.body.scrollWidth > window.innerWidth');
        expect(isWide).toBe(false);
      }
    },
  );
});

interface AxeResult {
  readonly violations: readonly { id: string; impact: string; nodes: { html: string }[] }[];
}

async function findViolations(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
