// Runs in a cluster's network: connections to a port there come out at a socket in the file system.
//
//   outer-door.ts ADDRESS PORT SOCKET

import { openDoor } from '../../door.ts';

const [host = '', port = '', socket = ''] = process.argv.slice(2);
await openDoor({ host, port: Number(port) }, { path: socket });
