// Runs in a cluster's network: connections to a port there come out at a socket in the file system.
//
//   outer-forwarder.ts ADDRESS PORT SOCKET

import { openForwarder } from '../../tcp-forwarder.ts';

const [host = '', port = '', socket = ''] = process.argv.slice(2);
await openForwarder({ host, port: Number(port) }, { path: socket });
