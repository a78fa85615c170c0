// Answers on TCP and UDP with its name and the client's address. Usage: server.ts NAME ADDRESS PORT...

import dgram from 'node:dgram';
import net from 'node:net';
import { listen } from '../../../../packages/base/src/network/listen.ts';

const [name = '', address = '', ...ports] = process.argv.slice(2);
process.setMaxListeners(0);
const chunk = Buffer.alloc(16_384, 7);

function serve(socket: net.Socket): void {
  socket.on('error', () => socket.destroy());
  let request = '';
  let received = 0;
  socket.on('data', (data) => {
    received += data.length;
    if (request !== '') return;
    request = data.toString('latin1', 0, 40).split('\n')[0] ?? '';
    const [verb, amount] = request.split(' ');
    if (verb === 'who') socket.end(`${name} ${socket.remoteAddress} ${socket.remotePort}`);
    if (verb === 'download') send(socket, Number(amount));
    if (verb === 'closed') {
      process.once('SIGUSR2', () => socket.end('x'.repeat(Number(amount))));
    }
  });
  socket.on('end', () => {
    if (!/^(upload|close) /.test(request)) return;
    socket.end(`${received - request.length - 1}`);
  });
}

/** A chunk every 10 ms, so that a transfer of known length takes a known time. */
function send(socket: net.Socket, chunks: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    socket.write(chunk);
    sent += 1;
    if (sent < chunks) return;
    clearInterval(timer);
    socket.end();
  }, 10);
}

for (const port of ports.map(Number)) {
  const server = net.createServer({ allowHalfOpen: true }, serve);
  await listen(server, { port, host: address });
  const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (_, from) =>
    socket.send(`${name} ${from.address} ${from.port}`, from.port, from.address),
  );
  await new Promise<void>((resolve) => socket.bind(port, address, resolve));
}
process.stdout.write('ready\n');
