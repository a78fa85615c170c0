// Loaded before a Causeway program (`node --import`): its wall clock is wrong by the number of milliseconds
// in the file CHAOS_CLOCK. The monotonic clock (performance.now) stays as it is, as on a machine where the
// clock is set.

import fs from 'node:fs';

const file = process.env['CHAOS_CLOCK'];
const now = Date.now;
let offset = 0;

if (file !== undefined) {
  const read = () => {
    const wanted = Number(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : 0);
    offset = Number.isFinite(wanted) ? wanted : 0;
  };
  read();
  setInterval(read, 250).unref();
  Date.now = () => now() + offset;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
    apply: (target) => new target(target.now()).toString(),
  });
}
