// Runs in a cluster's network: forwards connections from a port there to a Unix socket.
//
// outer-forwarder.ts ADDRESS PORT SOCKET

import { openForwarder } from '../../tcp-forwarder.ts';

const [host = '', port = '', socket = ''] = process.argv.slice(2);
await openForwarder({ host, port: Number(port) }, { path: socket });
