// A pod: says on each connection whose it is, and answers datagrams with it. Usage: pod.ts PORT
import dgram from 'node:dgram';
import net from 'node:net';

const port = Number(process.argv[2]);
const server = net.createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.end(socket.remoteAddress?.replace('::ffff:', '') ?? '');
});
const backlog = 8_192;
await new Promise<void>((resolve) => server.listen({ port, host: '::', backlog }, resolve));
const datagrams = dgram.createSocket('udp6');
datagrams.on('message', (text, from) => {
  const answer = `${text.toString()} ${from.address.replace('::ffff:', '')}`;
  datagrams.send(answer, from.port, from.address);
});
await new Promise<void>((resolve) => datagrams.bind(port, '::', resolve));
process.stdout.write('ready\n');
