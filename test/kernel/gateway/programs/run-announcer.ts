// Runs the announcer of an agent without the agent, and executes the operations that it receives. Run as:
//
// node run-announcer.ts CONFIG SOCKET
//
// Each request to the socket is a JSON array of the operation and its arguments. Addresses are arrays.

import fs from 'node:fs/promises';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import type { Address } from '../../../../packages/base/src/address/address.ts';
import { CausewayError } from '../../../../packages/base/src/error/causeway-error.ts';
import { createLog } from '../../../../packages/base/src/observability/logger.ts';
import { noMetrics } from '../../../../packages/base/src/observability/metrics.ts';
import { systemClock } from '../../../../packages/base/src/time/clock.ts';
import { supervise } from '../../../../packages/base/src/work/supervisor.ts';
import { Alarms } from '../../../../packages/causeway/src/gateway/agent/alarms.ts';
import type { WithdrawalCause } from '../../../../packages/causeway/src/gateway/agent/announce/announcer.ts';
import { announcerKind } from '../../../../packages/causeway/src/gateway/agent/announce/kinds.ts';
import { agentSettings } from '../../../../packages/causeway/src/gateway/agent/settings.ts';
import { servableHere } from '../../../../packages/causeway/src/gateway/agent/servable-here.ts';

const [config = '', socket = ''] = process.argv.slice(2);
const settings = agentSettings.parse(parse(await fs.readFile(config, 'utf8')));
await fs.mkdir(settings.runtimeDirectory, { recursive: true, mode: 0o700 });
const log = createLog({ ...settings.log, destination: process.stderr });
const stop = new AbortController();
const { signal } = stop;
const announcer = await announcerKind(settings).open(
  {
    settings,
    servable: servableHere(settings),
    kernel: { counters: () => Promise.resolve(new Map()) },
    clock: systemClock,
    log,
    metrics: noMetrics,
  },
  signal,
);
const changes: string[] = [];
announcer.onChange((role, before) => changes.push(`${before} to ${role}`));

type Request =
  | readonly ['announced' | 'status' | 'changes' | 'drain']
  | readonly ['test' | 'announce' | 'withdraw', readonly Address[]]
  | readonly ['withdrawAll', WithdrawalCause, string]
  | readonly ['resume', WithdrawalCause];

async function execute(request: Request): Promise<unknown> {
  switch (request[0]) {
    case 'announced':
      return [...(await announcer.announced())];
    case 'status':
      return announcer.status();
    case 'changes':
      return changes;
    case 'drain':
      return announcer.drain(signal);
    case 'test':
    case 'announce':
    case 'withdraw':
      return announcer[request[0]](new Set(request[1]), signal);
    case 'withdrawAll':
      return announcer.withdrawAll(request[1], request[2]);
    case 'resume':
      return announcer.resume(request[1]);
    default:
      return request satisfies never;
  }
}

const server = http.createServer((request, response) => {
  text(request)
    .then((body) => execute(JSON.parse(body) as Request))
    .then(
      (result) => response.end(JSON.stringify(result ?? null)),
      (error: unknown) => response.writeHead(500).end(CausewayError.from(error).message),
    );
});
server.listen(socket);
process.once('SIGTERM', () => stop.abort());
await supervise(signal, announcer.loops(new Alarms(log, noMetrics)));
server.close();
server.closeAllConnections();
