// An external client: a new connection every 50 ms, and running downloads. Prints lines of JSON until it is
// killed; times are those of the wall clock, which all machines of the tests share.
//
// outside-client.ts URL DOWNLOADS

import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, DownloadReport } from '../outage-figures.ts';

const [url = '', count = '0'] = process.argv.slice(2);
const everyMs = 50;
/** A connection without an answer by then has failed. */
const patienceMs = 2_000;
/** The server sends data ten times a second. */
const stillMs = 2_000;

interface Download {
  node: string;
  lastAt: number;
  isBroken: boolean;
}

const downloads = Array.from({ length: Number(count) }, startDownload);
setInterval(() => print(reportOf(downloads)), 500);
for (;;) {
  void ask().then(print);
  await delay(everyMs);
}

function ask(): Promise<Answer> {
  const at = Date.now();
  return new Promise((resolve) => {
    const done = (node?: string, failure?: string) =>
      resolve({ kind: 'answer', at, until: Date.now(), node, failure });
    const fail = (error: NodeJS.ErrnoException) => done(undefined, error.code ?? error.name);
    const request = http.get(url, { agent: false, signal: AbortSignal.timeout(patienceMs) });
    request.on('error', fail);
    request.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', fail);
      response.on('end', () => done(nodeIn(text), 'unexpected answer'));
    });
  });
}

function startDownload(): Download {
  const download: Download = { node: '', lastAt: 0, isBroken: false };
  const end = () => (download.isBroken = true);
  const request = http.get(new URL('stream', url), { agent: false });
  request.on('error', end);
  request.on('response', (response) => {
    response.on('data', (chunk: Buffer) => {
      download.lastAt = Date.now();
      if (download.node === '') download.node = nodeIn(chunk.toString()) ?? '';
    });
    response.on('error', end);
    response.on('close', end);
  });
  return download;
}

function reportOf(all: readonly Download[]): DownloadReport {
  const at = Date.now();
  const nodes: Record<string, { moving: number; broken: number; still: number }> = {};
  for (const { node, isBroken, lastAt } of all) {
    const counted = (nodes[node] ??= { moving: 0, broken: 0, still: 0 });
    counted[isBroken ? 'broken' : lastAt > at - stillMs ? 'moving' : 'still'] += 1;
  }
  return { kind: 'downloads', at, nodes };
}

function nodeIn(text: string): string | undefined {
  return / on (\w+) seen as /.exec(text)?.[1];
}

function print(line: Answer | DownloadReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
