// Keeps connections open and opens new ones, until SIGTERM; then it finishes all of them and ends. It prints a
// line of JSON for each connection that did not finish as requested, and a summary each second. It imports
// nothing of the product. The protocol is described in traffic-server.ts.
//
// traffic-client.ts SETTINGS

import net from 'node:net';
import type {
  Direction,
  LostConnection,
  TrafficCounts,
  TrafficPath,
  TrafficSettings,
  TrafficSummary,
  TrafficTarget,
} from '../traffic-lines.ts';

const settings = JSON.parse(process.argv[2] ?? '') as TrafficSettings;
const message = Buffer.alloc(32, 'x');
const slices = 10;
/** How long connections of the second kind last. */
const shortMs = { least: 1_000, most: 8_000 };
/** A client that lost a connection that should stay open opens another one after this time. */
const reopenMs = 500;

interface Connection {
  readonly target: TrafficTarget;
  readonly direction: Direction;
  readonly id: string;
  readonly slice: number;
  readonly socket: net.Socket;
  readonly openedAt: number;
  /** A connection that stays open has no end. */
  readonly finishAt: number;
  backend: string | undefined;
  header: string;
  /** Everything after the first line end of a download's messages. */
  trailer: string | undefined;
  sent: number;
  received: number;
  progressAt: number;
  isFinishing: boolean;
  isOver: boolean;
}

const connections = new Set<Connection>();
const counts: Partial<Record<TrafficPath, TrafficCounts>> = {};
let opened = 0;
let isEnding = false;

function countsOf({ path }: TrafficTarget): TrafficCounts {
  return (counts[path] ??= { running: 0, established: 0, finished: 0, lost: 0, unopened: 0 });
}

function open(target: TrafficTarget, finishAt = Number.POSITIVE_INFINITY): void {
  if (isEnding) return;
  opened += 1;
  const now = Date.now();
  const { address: host, port } = target;
  const socket = net.connect({ host, port, allowHalfOpen: true, noDelay: true });
  const connection: Connection = {
    ...{ target, socket, finishAt, openedAt: now, progressAt: now, slice: opened % slices },
    ...{
      direction: Math.floor(opened / 2) % 2 === 0 ? 'up' : 'down',
      id: `${settings.name}-${opened}`,
    },
    ...{ backend: undefined, header: '', trailer: undefined, sent: 0, received: 0 },
    ...{ isFinishing: false, isOver: false },
  };
  connections.add(connection);
  socket.on('connect', () => socket.write(`${connection.direction} ${connection.id}\n`));
  socket.on('data', (chunk: Buffer) => receive(connection, chunk));
  socket.on('end', () => endedByServer(connection));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const when = socket.pending || connection.backend !== undefined ? '' : ' after the handshake';
    end(connection, `${error.code ?? error.name}${when}`);
  });
  socket.on('close', () => end(connection, 'closed'));
}

function receive(connection: Connection, chunk: Buffer): void {
  connection.progressAt = Date.now();
  let text = chunk.toString('latin1');
  if (connection.backend === undefined) {
    connection.header += text;
    const at = connection.header.indexOf('\n');
    if (at < 0) return;
    connection.backend = connection.header.slice(0, at);
    text = connection.header.slice(at + 1);
    const count = countsOf(connection.target);
    count.established += 1;
    count.running += 1;
  }
  if (connection.trailer !== undefined) {
    connection.trailer += text;
    return;
  }
  const at = text.indexOf('\n');
  connection.received += at < 0 ? text.length : at;
  if (at >= 0) connection.trailer = text.slice(at + 1);
}

/** A connection has finished if both sides counted the same bytes in both directions. */
function endedByServer(connection: Connection): void {
  const { isFinishing, trailer, sent, received } = connection;
  if (!isFinishing) return end(connection, 'ended by the server');
  const expected = `END ${received} ${sent}\n`;
  end(connection, trailer === expected ? undefined : `counts differ: ${trailer} for ${expected}`);
}

function end(connection: Connection, cause: string | undefined): void {
  if (connection.isOver) return;
  connection.isOver = true;
  connection.socket.destroy();
  connections.delete(connection);
  const { target, backend } = connection;
  const count = countsOf(target);
  if (backend !== undefined) count.running -= 1;
  if (cause === undefined) count.finished += 1;
  else {
    count[backend === undefined ? 'unopened' : 'lost'] += 1;
    reportLost(connection, cause);
  }
  const staysOpen = connection.finishAt === Number.POSITIVE_INFINITY;
  if (staysOpen && !isEnding) setTimeout(() => open(target), reopenMs);
}

function reportLost(connection: Connection, cause: string): void {
  const { id, target, direction, backend, openedAt, progressAt } = connection;
  const line: LostConnection = {
    ...{ kind: 'lost', id, path: target.path, family: target.address.includes(':') ? 6 : 4 },
    ...{ direction, backend, openedAt, progressAt, endedAt: Date.now(), cause },
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function finish(connection: Connection): void {
  if (connection.isFinishing) return;
  connection.isFinishing = true;
  connection.progressAt = Date.now();
  connection.socket.end();
}

/** A message of an upload, or the end of a connection without progress. */
function attend(connection: Connection, now: number): void {
  const { direction, backend, isFinishing, finishAt, progressAt, socket } = connection;
  const awaitsData = direction === 'down' || backend === undefined || isFinishing;
  if (awaitsData && now - progressAt > settings.stallMs) {
    return end(connection, isFinishing ? 'stalled at its end' : 'stalled');
  }
  if (backend === undefined || isFinishing) return;
  if (isEnding || now >= finishAt) return finish(connection);
  if (direction === 'down' || !socket.writable) return;
  connection.sent += message.length;
  socket.write(message);
}

let slice = 0;
setInterval(() => {
  slice = (slice + 1) % slices;
  const now = Date.now();
  for (const connection of connections) {
    if (connection.slice === slice || isEnding) attend(connection, now);
  }
  if (isEnding && connections.size === 0) {
    printSummary();
    process.exit(0);
  }
}, settings.messageMs / slices);

function printSummary(): void {
  const line: TrafficSummary = { kind: 'summary', at: Date.now(), counts };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
setInterval(printSummary, 1_000);

/** Opens what stays open within some seconds, then the others at their rate. */
const startMs = 5_000;
for (const target of settings.targets) {
  for (let number = 0; number < target.count; number += 1) {
    setTimeout(() => open(target), (number * startMs) / target.count);
  }
  if (target.newPerSecond === 0) continue;
  setInterval(() => {
    const length = shortMs.least + Math.random() * (shortMs.most - shortMs.least);
    open(target, Date.now() + length);
  }, 1_000 / target.newPerSecond);
}

process.once('SIGTERM', () => (isEnding = true));
