// The pods of one node: one process serves the addresses of all of them. It imports nothing of the product.
//
// traffic-server.ts CONTROL-SOCKET MESSAGE-MS STALL-MS PORT...
//
// The server sends the name of the pod in a line, and the client "up ID" or "down ID". On a download the server
// sends messages from then on; on an upload it sends nothing more. When the client ends its direction, the
// server sends "END", the bytes it sent and the bytes it received, and ends the connection.
//
// Lines of JSON on the control socket add and remove pods. Removing a pod resets its connections.

import net from 'node:net';
import type { StalledUpload } from '../traffic-lines.ts';

const [control = '', messageMs = '', stallMs = '', ...ports] = process.argv.slice(2);
const message = Buffer.alloc(32, 'x');
const slices = 10;

interface Connection {
  readonly socket: net.Socket;
  readonly pod: string;
  /** Messages of all connections spread evenly over the interval. */
  readonly slice: number;
  command: string;
  sent: number;
  received: number;
  progressAt: number;
  hasStalled: boolean;
}

const podAt = new Map<string, string>();
const connections = new Set<Connection>();
let accepted = 0;

function accept(socket: net.Socket): void {
  const pod = podAt.get((socket.localAddress ?? '').replace('::ffff:', ''));
  if (pod === undefined) {
    socket.resetAndDestroy();
    return;
  }
  accepted += 1;
  const connection: Connection = {
    ...{ socket, pod, slice: accepted % slices, command: '', sent: 0, received: 0 },
    ...{ progressAt: Date.now(), hasStalled: false },
  };
  connections.add(connection);
  socket.setNoDelay(true);
  socket.write(`${pod}\n`);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => connections.delete(connection));
  socket.on('data', (chunk: Buffer) => receive(connection, chunk));
  socket.on('end', () => socket.end(`\nEND ${connection.sent} ${connection.received}\n`));
}

function receive(connection: Connection, chunk: Buffer): void {
  connection.progressAt = Date.now();
  connection.hasStalled = false;
  if (connection.command !== '') {
    connection.received += chunk.length;
    return;
  }
  const end = chunk.indexOf('\n');
  connection.command = chunk.toString('latin1', 0, end);
  connection.received += chunk.length - end - 1;
}

let slice = 0;
setInterval(() => {
  slice = (slice + 1) % slices;
  const now = Date.now();
  for (const connection of connections) {
    if (connection.slice !== slice || connection.command === '') continue;
    if (connection.command.startsWith('up')) reportStall(connection, now);
    else if (connection.socket.writable) {
      connection.sent += message.length;
      connection.socket.write(message);
    }
  }
}, Number(messageMs) / slices);

function reportStall(connection: Connection, now: number): void {
  const { progressAt, pod, command, hasStalled, socket } = connection;
  if (hasStalled || socket.readableEnded || now - progressAt < Number(stallMs)) return;
  connection.hasStalled = true;
  const id = command.slice('up '.length);
  const line: StalledUpload = { kind: 'stalled', id, backend: pod, progressAt };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function obey(order: { add?: string; remove?: string; addresses?: string[] }): void {
  for (const address of order.addresses ?? []) podAt.set(address, order.add ?? '');
  if (order.remove === undefined) return;
  for (const [address, pod] of podAt) if (pod === order.remove) podAt.delete(address);
  for (const { socket, pod } of connections) if (pod === order.remove) socket.resetAndDestroy();
}

net
  .createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\n').filter(Boolean)) {
        obey(JSON.parse(line) as Parameters<typeof obey>[0]);
        socket.write('done\n');
      }
    });
  })
  .listen(control);

let listening = 0;
for (const port of ports) {
  const server = net.createServer({ allowHalfOpen: true }, accept);
  server.listen({ port: Number(port), host: '::', backlog: 1024 }, () => {
    listening += 1;
    if (listening === ports.length) process.stdout.write('ready\n');
  });
}
