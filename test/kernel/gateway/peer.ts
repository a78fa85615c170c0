// A server on a node or in a pod. Sends its name to clients, over TCP and UDP, IPv4 and IPv6; sends and
// receives the requested number of bytes. Run as: node peer.ts NAME FIRST-PORT COUNT
// - who: answers "NAME CLIENT-ADDRESS"
// - down N MS: sends N bytes over that many milliseconds
// - up: receives bytes until the client ends, then answers with their number

import dgram from 'node:dgram';
import net from 'node:net';
import { listen } from '../../../packages/base/src/network/listen.ts';

const [name = 'peer', first = '8080', count = '1'] = process.argv.slice(2);
const ports = Array.from({ length: Number(count) }, (_, index) => Number(first) + index);

for (const port of ports) {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    let command = '';
    let taken = 0;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      if (command === 'up') {
        taken += chunk.length;
        return;
      }
      const text = chunk.toString('latin1');
      const end = text.indexOf('\n');
      if (end < 0) return;
      command = text.slice(0, end);
      taken += chunk.length - end - 1;
      const [verb, amount, time] = command.split(' ');
      if (verb === 'who') socket.end(`${name} ${plain(socket.remoteAddress)}`);
      if (verb === 'down') send(socket, Number(amount), Number(time));
    });
    socket.on('end', () => {
      if (command === 'up') socket.end(String(taken));
      else socket.end();
    });
  });
  await listen(server, { port, host: '::' });
  for (const type of ['udp4', 'udp6'] as const) await answerDatagrams(type, port);
}

/** Evenly over the time, so that a connection always has data in flight when a fault happens. */
function send(socket: net.Socket, amount: number, milliseconds: number): void {
  const tick = 10;
  const piece = Math.ceil(amount / (milliseconds / tick));
  let left = amount;
  const timer = setInterval(() => {
    const size = Math.min(piece, left);
    left -= size;
    socket.write(Buffer.alloc(size, 0x61));
    if (left > 0 && !socket.destroyed) return;
    clearInterval(timer);
    socket.end();
  }, tick);
}

function answerDatagrams(type: 'udp4' | 'udp6', port: number): Promise<void> {
  const socket = dgram.createSocket({ type, ipv6Only: type === 'udp6' });
  socket.on('message', (message, from) => {
    const answer = `${name} ${plain(from.address)} ${message.toString()}`;
    socket.send(answer, from.port, from.address);
  });
  return new Promise((resolve) => socket.bind(port, resolve));
}

function plain(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:/, '');
}

process.stdout.write('ready\n');
