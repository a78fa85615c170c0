// Runs in a cluster's network: forwards connections from a Unix socket to a port there.
//
// inner-forwarder.ts SOCKET PORT

import { openForwarder } from '../../tcp-forwarder.ts';

const [socket = '', port = ''] = process.argv.slice(2);
await openForwarder({ path: socket }, { host: '127.0.0.1', port: Number(port) });
