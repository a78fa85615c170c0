// A pod that serves several Services, one on each port: sends its name and the port to every client. Run as:
// node pod.ts NAME FIRST-PORT COUNT

import net from 'node:net';
import { listen } from '../../../packages/base/src/network/listen.ts';

const [name = 'pod', first = '9000', count = '1'] = process.argv.slice(2);
for (let index = 0; index < Number(count); index += 1) {
  const port = Number(first) + index;
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${name} ${port}`);
  });
  await listen(server, { port, host: '::' });
}
process.stdout.write('ready\n');
