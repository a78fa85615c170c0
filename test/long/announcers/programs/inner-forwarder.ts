// Inside a network namespace: a port of the loopback address that leads to a Unix socket. node
// inner-forwarder.ts PORT SOCKET

import { openForwarder } from '../../../services/tcp-forwarder.ts';

const [port = '', socketPath = ''] = process.argv.slice(2);
await openForwarder({ host: '127.0.0.1', port: Number(port) }, { path: socketPath });
process.stdout.write('open\n');
