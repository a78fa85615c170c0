// Runs in the network of the allocators: each Unix socket leads to a port there.
//
// forwarders.ts SOCKET=PORT SOCKET=PORT ...

import { openForwarder } from '../../../services/tcp-forwarder.ts';

for (const word of process.argv.slice(2)) {
  const [socket = '', port = ''] = word.split('=');
  await openForwarder({ path: socket }, { host: '127.0.0.1', port: Number(port) });
}
