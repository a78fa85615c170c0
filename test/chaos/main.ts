// Runs the whole system under faults: docs/chaos.md.

import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { stopSignal } from '../../packages/causeway/src/cli/terminal/stop-signal.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { requireNetworkTools } from '../kernel/gateway/network.ts';
import { orEnd } from '../services/missing.ts';
import { Chronicle } from './chronicle.ts';
import { serviceClasses } from './imagined-user.ts';
import { Observer } from './observer.ts';
import { Run } from './run.ts';
import { System } from './system.ts';
import { User } from './user.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    minutes: { type: 'string', default: '5' },
    on: { type: 'string', default: 'embedded' },
    patience: { type: 'string', default: '180' },
    only: { type: 'string' },
    classes: { type: 'string' },
    logs: { type: 'string' },
  },
});
const { on } = values;
if (on !== 'embedded' && on !== 'real') throw new Error('--on embedded or --on real');
const seed = Number(values.seed);
const logs = values.logs ?? (await fs.mkdtemp(path.join(os.tmpdir(), `causeway-chaos-${seed}-`)));
await fs.mkdir(logs, { recursive: true });
const chronicle = new Chronicle(logs);
chronicle.log(`seed ${seed}, ${values.minutes} minutes, on ${on}, logs in ${logs}`);

await orEnd(requireNetworkTools);
const stop = stopSignal();

const system = await System.start(on);
const user = await User.settle(system, chronicle);
const observer = new Observer(system, user, chronicle);
observer.start();
const run = new Run(system, user, observer, chronicle, {
  seed,
  minutes: Number(values.minutes),
  ground: on,
  patienceMs: Number(values.patience) * 1000,
  only: values.only === undefined ? undefined : new Set(values.only.split(',')),
  classes: serviceClasses.filter((each) => values.classes?.split(',').includes(each) ?? true),
  signal: stop,
});
await run.all().catch((error: Error) => chronicle.violation(`the run failed: ${error.stack}`));
await observer.stop();
await keepLogs(system.topology.directory, logs);
await keepServices(system, path.join(logs, 'services.yaml'));
await system.stop();
const count = chronicle.violations.length;
if (stop.aborted) chronicle.log('aborted');
chronicle.log(count === 0 ? 'no violations' : `${count} violations, logs in ${logs}`);
if (count === 0 && values.logs === undefined) await fs.rm(logs, { recursive: true });
// Faults of an aborted run may still be waiting to end.
process.exit(count === 0 ? 0 : 1);

/** Writes the Services as they are at the end: their status shows the cause. */
async function keepServices({ clients }: System, file: string): Promise<void> {
  const all = [];
  for await (const service of clients.kube.list(services)) all.push(service);
  await fs.writeFile(file, stringify(all));
}

async function keepLogs(from: string, to: string): Promise<void> {
  for (const entry of await fs.readdir(from, { recursive: true })) {
    if (!/\.(?:log|conf|yaml)$/.test(entry)) continue;
    await fs.copyFile(path.join(from, entry), path.join(to, entry.replaceAll('/', '-')));
  }
}
