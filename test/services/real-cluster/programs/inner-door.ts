// Runs in a cluster's network: connections to a socket in the file system come out at a port there.
//
//   inner-door.ts SOCKET PORT

import { openDoor } from '../../door.ts';

const [socket = '', port = ''] = process.argv.slice(2);
await openDoor({ path: socket }, { host: '127.0.0.1', port: Number(port) });
