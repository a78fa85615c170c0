// Loaded before a Causeway program (`node --expose-gc --import`): writes its memory, after garbage
// collection, to the file SOAK_SAMPLES, a line every SOAK_EVERY_MS.

import fs from 'node:fs';

const { SOAK_SAMPLES: file, SOAK_EVERY_MS: everyMs = '10000' } = process.env;

if (file !== undefined) {
  setInterval(() => {
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    const resources = process.getActiveResourcesInfo();
    const timers = resources.filter((name) => name === 'Timeout' || name === 'Immediate').length;
    const handles = resources.length - timers;
    const sample = { heap: heapUsed + external, rss, timers, handles };
    fs.appendFileSync(file, `${JSON.stringify(sample)}\n`);
  }, Number(everyMs)).unref();
}
