// The ends of the connections that nftables-packets measures.
// - packet-program.ts serve PORT: sends a block for each line it gets, a byte for the line `one`
// - packet-program.ts connect PORT N A B: times N connections to each address, alternating
// - packet-program.ts exchange PORT N A B: the same, until the first byte of an answer
// - packet-program.ts reach PORT A: waits until a connection to the address succeeds
// - packet-program.ts receive PORT N A B: times N blocks over one connection to each address, alternating

import net from 'node:net';
import { median } from './benchmark.ts';

const [mode, portText, ...rest] = process.argv.slice(2);
const port = Number(portText);

const block = Buffer.alloc(16 * 1024 * 1024, 1);

if (mode === 'serve') {
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (line) => socket.write(line.toString() === 'one\n' ? 'x' : block));
  });
  server.listen(port, '0.0.0.0', () => process.stdout.write('ready\n'));
} else if (mode === 'reach') {
  while (!(await canReach(rest[0] ?? ''))) continue;
  process.exit(0);
} else if (mode === 'connect' || mode === 'exchange') {
  const [count = '0', ...addresses] = rest;
  const measure = mode === 'connect' ? connect : exchange;
  const times = addresses.map((): number[] => []);
  for (let index = 0; index < Number(count); index += 1) {
    // Shuffled, so that the cleanup of the previous connection affects all alike.
    for (const [which, address] of shuffled([...addresses.entries()])) {
      times[which]?.push(await measure(address));
    }
  }
  process.stdout.write(JSON.stringify(times.map((list) => median(list))));
  process.exit(0);
} else {
  const [count = '0', ...addresses] = rest;
  const sockets = await Promise.all(addresses.map((address) => open(address)));
  const times = sockets.map((): number[] => []);
  for (let index = 0; index < Number(count); index += 1) {
    for (const [which, socket] of sockets.entries()) times[which]?.push(await receive(socket));
  }
  const megabytes = block.length / 1e6;
  process.stdout.write(JSON.stringify(times.map((list) => (megabytes * 1000) / median(list))));
  process.exit(0);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item);
}

function connect(address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const socket = net.connect(port, address);
    socket.on('error', reject);
    socket.on('connect', () => {
      resolve(performance.now() - started);
      socket.resetAndDestroy();
    });
  });
}

function exchange(address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const socket = net.connect(port, address, () => socket.write('one\n'));
    socket.on('error', reject);
    socket.on('data', () => {
      resolve(performance.now() - started);
      socket.resetAndDestroy();
    });
  });
}

/**
 * With a short timeout: a starting gateway that drops packets would otherwise get the retransmission only
 * after a second.
 */
function canReach(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: address, timeout: 50 });
    const end = (reached: boolean) => () => {
      socket.destroy();
      resolve(reached);
    };
    socket.on('connect', end(true)).on('timeout', end(false)).on('error', end(false));
  });
}

function open(address: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, address);
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

/** Time of one block, in milliseconds. */
function receive(socket: net.Socket): Promise<number> {
  return new Promise((resolve) => {
    const started = performance.now();
    let missing = block.length;
    const onData = (data: Buffer) => {
      missing -= data.length;
      if (missing > 0) return;
      socket.off('data', onData);
      resolve(performance.now() - started);
    };
    socket.on('data', onData);
    socket.write('more\n');
  });
}
