// Many clients of one address. Usage: clients.ts JSON; prints `started`, then one line of JSON.
import dgram from 'node:dgram';
import net from 'node:net';

interface Order {
  readonly protocol?: 'TCP' | 'UDP';
  readonly address: string;
  readonly port: number;
  readonly from?: string;
  /** All at once, or one at this interval in milliseconds; no more of them begin after SIGTERM. */
  readonly count: number;
  readonly everyMs?: number;
  /** Delay between the connection and the request. */
  readonly saysAfterMs?: number;
  /** How long a connection is kept open after its answer. */
  readonly staysMs?: number;
  readonly limitMs: number;
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const result = {
  served: 0,
  seen: {} as Record<string, number>,
  errors: {} as Record<string, number>,
  /** Begin of the first, and the time of each answer, in milliseconds since 1970. */
  began: performance.timeOrigin + performance.now(),
  times: [] as number[],
};
let total = order.count;
let begun = 0;
let ended = 0;
let connected = 0;

function note(kind: 'seen' | 'errors', word: string): void {
  result[kind][word] = (result[kind][word] ?? 0) + 1;
  if (kind === 'seen') {
    result.served += 1;
    result.times.push(performance.timeOrigin + performance.now());
  }
  ended += 1;
  if (ended === total) finish();
}

function finish(): void {
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
}

function connect(): void {
  const { address: host, port, from } = order;
  const local = from === undefined ? {} : { localAddress: from };
  const socket = net.connect({ host, port, allowHalfOpen: true, ...local });
  let text = '';
  socket.on('connect', () => {
    connected += 1;
    if (connected === order.count) process.stdout.write('connected\n');
    if (order.saysAfterMs !== undefined) setTimeout(() => socket.write('?'), order.saysAfterMs);
  });
  socket.on('data', (data) => (text += data.toString()));
  socket.on('error', (error: NodeJS.ErrnoException) => note('errors', error.code ?? 'unknown'));
  socket.on('end', () => {
    setTimeout(() => {
      socket.end();
      note('seen', text);
    }, order.staysMs ?? 0);
  });
}

function ask(): void {
  const socket = dgram.createSocket(order.address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (text) => {
    note('seen', text.toString());
    socket.close();
  });
  socket.send('hello', order.port, order.address, (error) => {
    if (error !== null) note('errors', (error as NodeJS.ErrnoException).code ?? 'unknown');
  });
}

const start = order.protocol === 'UDP' ? ask : connect;
setTimeout(() => {
  result.errors['unanswered'] = begun - ended;
  finish();
}, order.limitMs);
result.began = performance.timeOrigin + performance.now();
if (order.everyMs === undefined) {
  for (; begun < total; begun += 1) start();
} else {
  const timer = setInterval(() => {
    if (begun === total) {
      clearInterval(timer);
      return;
    }
    start();
    begun += 1;
  }, order.everyMs);
}
process.once('SIGTERM', () => {
  total = begun;
  if (ended === total) finish();
});
process.stdout.write('started\n');
