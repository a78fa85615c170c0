// A pod: sends the client's address on each connection, on the next port only after a request, and answers
// datagrams with it. Usage: pod.ts PORT [ADDRESS]
import dgram from 'node:dgram';
import net from 'node:net';
import { listen } from '../../../../packages/base/src/network/listen.ts';

const port = Number(process.argv[2]);
const host = process.argv[3] ?? '::';
const server = net.createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.end(socket.remoteAddress?.replace('::ffff:', '') ?? '');
});
const backlog = 8_192;
await listen(server, { port, host, backlog });
const patient = net.createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', () => socket.end(socket.remoteAddress?.replace('::ffff:', '') ?? ''));
});
await listen(patient, { port: port + 1, host });
const datagrams = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4');
datagrams.on('message', (text, from) => {
  const answer = `${text.toString()} ${from.address.replace('::ffff:', '')}`;
  datagrams.send(answer, from.port, from.address);
});
await new Promise<void>((resolve) => datagrams.bind(port, host, resolve));
process.stdout.write('ready\n');
