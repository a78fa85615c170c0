// Performs the requests given as JSON and prints their results as JSON. See lab.ts for their form.

import dgram from 'node:dgram';
import net from 'node:net';
import type { Answer, Request } from '../lab.ts';

/** Long enough that every reachable server answers, even on a busy machine. */
const patienceMs = 20_000;
/** After the timeout: data that arrived while this process was stalled is read first. */
const lastCheckMs = 200;

let lastProgress = performance.now();
process.setMaxListeners(0);
const requests = JSON.parse(process.argv[2] ?? '[]') as Request[];
const answers = await Promise.all(requests.map((request) => carryOut(request)));
process.stdout.write(`${JSON.stringify(answers)}\n`);
process.exit(0);

function carryOut(request: Request): Promise<Answer> {
  return request.protocol === 'UDP' ? askByUdp(request) : askByTcp(request);
}

/**
 * Calls back when no data has come for this long, for this request or any other. Returns a function to
 * cancel.
 */
function whenIdle(limitMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const check = (isLast: boolean) => {
    const restMs = limitMs - (performance.now() - lastProgress);
    if (restMs <= 0 && isLast) callback();
    else if (restMs <= 0) timer = setTimeout(check, lastCheckMs, true);
    else timer = setTimeout(check, restMs, false);
  };
  timer = setTimeout(check, limitMs, false);
  return () => clearTimeout(timer);
}

function progress(): void {
  lastProgress = performance.now();
}

function askByTcp(request: Request): Promise<Answer> {
  return new Promise((resolve) => {
    const { address, port, localPort, timeoutMs = patienceMs, say = 'who' } = request;
    const socket = net.connect({
      host: address,
      port,
      ...(localPort === undefined ? {} : { localPort }),
    });
    let text = '';
    let bytes = 0;
    const finish = (error?: string) => {
      cancel();
      const ended = performance.now();
      resolve(error === undefined ? { text, bytes, ended } : { text, bytes, ended, error });
      socket.destroy();
    };
    const cancel = whenIdle(timeoutMs, () => finish('timeout'));
    socket.on('connect', () => {
      progress();
      process.stderr.write('connected\n');
      socket.write(`${say}\n`);
      if (say.startsWith('upload')) upload(socket, Number(say.split(' ')[1]));
      if (say.startsWith('close')) {
        process.once('SIGUSR2', () => socket.end('x'.repeat(Number(say.split(' ')[1]))));
      }
    });
    socket.on('data', (data) => {
      progress();
      bytes += data.length;
      if (text.length < 100) text += data.toString('latin1', 0, 100);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      progress();
      finish(error.code ?? error.message);
    });
    socket.on('end', () => finish());
  });
}

function upload(socket: net.Socket, chunks: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    socket.write(Buffer.alloc(16_384, 9));
    sent += 1;
    if (sent < chunks) return;
    clearInterval(timer);
    socket.end();
  }, 10);
}

function askByUdp(request: Request): Promise<Answer> {
  return new Promise((resolve) => {
    const { address, port, localPort, timeoutMs = patienceMs } = request;
    const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const finish = (answer: Answer) => {
      cancel();
      socket.close();
      resolve(answer);
    };
    const ended = () => performance.now();
    const cancel = whenIdle(timeoutMs, () =>
      finish({ text: '', bytes: 0, ended: ended(), error: 'timeout' }),
    );
    socket.on('message', (data) => {
      progress();
      finish({ text: data.toString(), bytes: data.length, ended: ended() });
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish({ text: '', bytes: 0, ended: ended(), error: error.code ?? error.message }),
    );
    socket.bind(localPort ?? 0, () => {
      socket.connect(port, address, () => socket.send('who'));
    });
  });
}
