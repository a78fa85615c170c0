// Keeps downloads running. The client ends each of them after some seconds and starts another one. Prints a
// line of JSON for each download that ended otherwise, and a summary each second. It imports nothing of the
// product.
//
// held-downloads.ts URL COUNT HOLD-MS

import http from 'node:http';
import type { DownloadLine } from '../download-lines.ts';

const [url = '', count = '0', holdMs = '0'] = process.argv.slice(2);
/** The server sends data ten times a second. */
const stallMs = 10_000;
let running = 0;
let finished = 0;

function print(line: DownloadLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function start(): void {
  const beganAt = Date.now();
  let lastAt = beganAt;
  let from = '';
  let isOver = false;
  const request = http.get(url, { agent: false });
  const end = (cause: string | undefined) => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    request.destroy();
    if (from !== '') running -= 1;
    if (cause === undefined) finished += 1;
    else print({ kind: 'lost', at: Date.now(), isEstablished: from !== '', from, cause });
    setTimeout(start, cause === undefined ? 0 : 500);
  };
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - lastAt > stallMs) end('stalled');
    else if (from !== '' && now - beganAt > Number(holdMs)) end(undefined);
  }, 250);
  request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.name));
  request.on('response', (response) => {
    response.on('data', (chunk: Buffer) => {
      lastAt = Date.now();
      if (from !== '') return;
      from = chunk.toString().split('\n')[0] ?? '';
      running += 1;
    });
    response.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.name));
    response.on('close', () => end('closed by the server'));
  });
}

for (let number = 0; number < Number(count); number += 1) {
  setTimeout(start, (number * Number(holdMs)) / Number(count));
}
setInterval(() => print({ kind: 'summary', at: Date.now(), running, finished }), 1_000);
