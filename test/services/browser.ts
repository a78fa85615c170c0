import { chromium, type Browser } from 'playwright-core';
import { ensureDebianPackages } from './debian-packages.ts';
import { patienceMs } from './wait-for.ts';

/** Makes sure that a real browser is available. Throws MissingError otherwise. */
export async function prepareBrowser(): Promise<void> {
  await ensureDebianPackages(['chromium']);
}

/** A real headless Chromium. It sends no background requests to the network. */
export async function startBrowser(): Promise<Browser> {
  await prepareBrowser();
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    timeout: patienceMs,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
