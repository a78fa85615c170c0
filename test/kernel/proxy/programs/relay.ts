// Connects a namespace to the outside: a port here, a Unix socket there. Usage: relay.ts PORT SOCKET

import net from 'node:net';

const [port = '', socket = ''] = process.argv.slice(2);
const server = net.createServer((near) => {
  const far = net.connect(socket);
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
