// Clients of the tests, run on a machine. Prints one line of JSON.
// - node client.ts who ADDRESS PORT [COUNT] [MS]: which server answers over TCP, and which client address it
//   sees
// - node client.ts who-udp ADDRESS PORT [COUNT] [MS]: the same over UDP
// - node client.ts down ADDRESS PORT COUNT BYTES MS: COUNT downloads at once; how many were complete
// - node client.ts up ADDRESS PORT COUNT BYTES MS: COUNT uploads at once; how many arrived complete
// - node client.ts timeout PORT ADDRESS...: sends UDP probes every 10 ms until SIGTERM; the longest outage of
//   each address, the most unanswered probes in a row, and the last server that answered
// - node client.ts pause ADDRESS PORT COUNT: COUNT steady downloads until SIGTERM; the longest time without
//   data of each
// - node client.ts connect ADDRESS PORT MS: a new connection every 20 ms until SIGTERM; how many, and the
//   errors of those without an answer within MS
//
// The last five print "flowing" once everything is under way; `timeout` also prints the answering server when
// it changes.

import dgram from 'node:dgram';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const [verb = '', ...args] = process.argv.slice(2);
/** Long enough that every reachable server answers, even on a busy machine. */
const patienceMs = 30_000;
/** Maximum delay of the last answers. */
const lateMs = 2_000;
let underWay = 0;

switch (verb) {
  case 'who':
    await repeat(who);
    break;
  case 'who-udp':
    await repeat(whoUdp);
    break;
  case 'down':
    await transfers(download);
    break;
  case 'up':
    await transfers(upload);
    break;
  case 'timeout':
    await outage();
    break;
  case 'pause':
    await pause();
    break;
  case 'connect':
    await connect();
    break;
  default:
    throw new Error(`unknown: ${verb}`);
}

async function repeat(
  ask: (address: string, port: number, limitMs: number) => Promise<string>,
): Promise<void> {
  const [address = '', port = '', count = '1', limitMs = String(patienceMs)] = args;
  const answers: string[] = [];
  for (let index = 0; index < Number(count); index += 1) {
    answers.push(await ask(address, Number(port), Number(limitMs)));
  }
  print(answers);
}

function who(address: string, port: number, limitMs: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = net.connect({ host: address, port, timeout: limitMs });
    socket.on('connect', () => socket.write('who\n'));
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('timeout', () => socket.destroy(new Error('timeout')));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve(text));
  });
}

async function connect(): Promise<void> {
  const [address = '', port = '', limitMs = ''] = args;
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const begun = performance.now();
  const all: Promise<string | undefined>[] = [];
  const one = async () => {
    const at = Math.round(performance.now() - begun);
    const answer = await who(address, Number(port), Number(limitMs));
    const after = Math.round(performance.now() - begun) - at;
    return answer.includes(' ') ? undefined : `${answer || 'closed'} at ${at} after ${after} ms`;
  };
  while (!stop.signal.aborted) {
    all.push(one());
    if (all.length === 1 && (await all[0]) === undefined) process.stdout.write('flowing\n');
    await delay(20);
  }
  const failures = (await Promise.all(all)).filter((failure) => failure !== undefined);
  print({ asked: all.length, failures });
}

function whoUdp(address: string, port: number, limitMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const finish = (text: string) => {
      clearTimeout(timer);
      socket.close();
      resolve(text);
    };
    const timer = setTimeout(() => finish('timeout'), limitMs);
    socket.on('message', (message) => finish(message.toString().trim()));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    socket.connect(port, address, () => socket.send(''));
  });
}

async function transfers(
  transfer: (address: string, port: number, bytes: number, ms: number) => Promise<boolean>,
): Promise<void> {
  const [address = '', port, count, bytes, ms] = args;
  const results = await Promise.all(
    Array.from({ length: Number(count) }, () =>
      transfer(address, Number(port), Number(bytes), Number(ms)),
    ),
  );
  print({ whole: results.filter(Boolean).length, of: results.length });
}

/** Called once for each transfer. */
function flows(): void {
  underWay += 1;
  if (underWay === Number(args[2])) process.stdout.write('flowing\n');
}

function download(address: string, port: number, bytes: number, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    let taken = 0;
    const socket = net.connect({ host: address, port });
    socket.setTimeout(ms + 20_000, () => socket.destroy());
    socket.on('connect', () => socket.write(`down ${bytes} ${ms}\n`));
    socket.once('data', flows);
    socket.on('data', (chunk) => (taken += chunk.length));
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(taken === bytes));
  });
}

function upload(address: string, port: number, bytes: number, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = net.connect({ host: address, port, allowHalfOpen: true });
    socket.setTimeout(ms + 20_000, () => socket.destroy());
    socket.on('connect', () => {
      socket.write('up\n', flows);
      const tick = 10;
      const piece = Math.ceil(bytes / (ms / tick));
      let left = bytes;
      const timer = setInterval(() => {
        const size = Math.min(piece, left);
        left -= size;
        if (!socket.destroyed) socket.write(Buffer.alloc(size, 0x62));
        if (left > 0 && !socket.destroyed) return;
        clearInterval(timer);
        socket.end();
      }, tick);
    });
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(Number(answer) === bytes));
  });
}

interface Attempt {
  readonly address: string;
  readonly socket: dgram.Socket;
  /** The numbers of the answered probes. */
  readonly answered: Set<number>;
  last: number;
  longest: number;
  from: string;
}

async function outage(): Promise<void> {
  const [port = '', ...addresses] = args;
  let answering = 0;
  const attempts = addresses.map((address) =>
    startAttempts(address, () => {
      answering += 1;
      if (answering === addresses.length) process.stdout.write('flowing\n');
    }),
  );
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  let sent = 0;
  for (; !stop.signal.aborted; sent += 1) {
    for (const { socket, address } of attempts) {
      socket.send(String(sent), Number(port), address, () => {});
    }
    await delay(10);
  }
  const now = performance.now();
  const outages = attempts.map(({ last, longest }) => Math.round(Math.max(longest, now - last)));
  const isLate = () => attempts.some(({ answered }) => !answered.has(sent - 1));
  while (isLate() && performance.now() < now + lateMs) await delay(10);
  print(
    attempts.map(({ address, socket, answered, from }, index) => {
      socket.close();
      const lostInARow = longestGap(answered, sent);
      return { address, answers: answered.size, from, longestMs: outages[index], lostInARow };
    }),
  );
}

function startAttempts(address: string, onFirst: () => void): Attempt {
  const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const last = performance.now();
  const probeTcp: Attempt = { address, socket, answered: new Set(), last, longest: 0, from: '' };
  socket.on('message', (message) => {
    const [from = '', , number = ''] = message.toString().split(' ');
    if (from !== probeTcp.from) process.stdout.write(`${from} answers on ${address}\n`);
    probeTcp.from = from;
    const now = performance.now();
    if (probeTcp.answered.size > 0)
      probeTcp.longest = Math.max(probeTcp.longest, now - probeTcp.last);
    else onFirst();
    probeTcp.last = now;
    probeTcp.answered.add(Number(number));
  });
  socket.on('error', () => {});
  return probeTcp;
}

/** The most unanswered probes in a row, of this many and after the first answered one. */
function longestGap(answered: ReadonlySet<number>, sent: number): number {
  const numbers = [...answered, sent].sort((left, right) => left - right);
  const gaps = numbers.slice(1).map((number, index) => number - (numbers[index] ?? 0) - 1);
  return Math.max(0, ...gaps);
}

/** A piece every ten milliseconds: a longer gap is a pause. */
async function pause(): Promise<void> {
  const [address = '', port, count] = args;
  const milliseconds = 120_000;
  const streams = Array.from({ length: Number(count) }, () => {
    const stream = { last: performance.now(), longest: 0 };
    const socket = net.connect({ host: address, port: Number(port) });
    socket.on('connect', () => socket.write(`down ${milliseconds * 10} ${milliseconds}\n`));
    socket.once('data', () => {
      stream.last = performance.now();
      flows();
    });
    socket.on('data', () => {
      const now = performance.now();
      stream.longest = Math.max(stream.longest, now - stream.last);
      stream.last = now;
    });
    socket.on('error', () => (stream.longest = milliseconds));
    return { stream, socket };
  });
  await new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()));
  const now = performance.now();
  print(
    streams.map(({ stream, socket }) => {
      socket.destroy();
      return Math.round(Math.max(stream.longest, now - stream.last));
    }),
  );
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
