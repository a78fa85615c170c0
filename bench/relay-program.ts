// The relay of the accepting holder for an awake Service, alone: relay-program.ts PORT ADDRESS:PORT

import net from 'node:net';
import { dial, relay } from '../packages/causeway/src/node-proxy/holder/relay.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';

const [port = '0', target = ''] = process.argv.slice(2);
const [address = '', targetPort = '0'] = target.split(':');
const never = new AbortController().signal;

const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  void dial({ address, port: Number(targetPort) }, systemClock, never).then((service) =>
    relay(client, service),
  );
});
server.listen(Number(port), '0.0.0.0', () => process.stdout.write('ready\n'));
// A graceful end, so that a profile is written.
process.once('SIGTERM', () => process.exit(0));
