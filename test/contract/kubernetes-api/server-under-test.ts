import fs from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetesOptions,
} from '../../../packages/fake-kubernetes/src/start.ts';
import { type KubernetesOptions, startKubernetes } from '../../services/kubernetes.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runProgram, type ProgramResult } from '../../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { patienceMs } from '../../services/wait-for.ts';
import { LineSplitter } from '../../../packages/base/src/text/line-splitter.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed where it is JSON, else text. */
  readonly body: unknown;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly metadata: Readonly<Record<string, unknown>> & {
      readonly name: string;
      readonly resourceVersion: string;
    };
    readonly [field: string]: unknown;
  };
}

export interface OpenWatch {
  readonly status: number;
  /** The next event; undefined at the end of the stream. Fails when nothing comes for very long. */
  next(): Promise<WatchEvent | undefined>;
  close(): void;
}

/** One API server, embedded or real, for the contracts. */
export interface ServerUnderTest {
  readonly url: string;
  /** The authority that signed the server's certificate, as PEM. */
  readonly ca: string;
  readonly kubeconfig: string;
  /** An administrator's certificate and key, as PEM. */
  readonly adminCertificate: { readonly cert: string; readonly key: string };
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  watch(path: string, headers?: Readonly<Record<string, string>>): Promise<OpenWatch>;
  kubectl(args: readonly string[], input?: string): Promise<ProgramResult>;
  /** Path of the real kubectl, for tests that keep it running. */
  readonly kubectlProgram: string;
  /** Makes the server drop its history. A real one has to be restarted for that. */
  dropHistory(): Promise<void>;
  stop(): Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
  readonly kubeconfig: string;
  readonly adminCertificate: { readonly cert: string; readonly key: string };
  readonly dropHistory: () => Promise<void>;
}

export async function startEmbeddedServer(
  options: EmbeddedKubernetesOptions = {},
): Promise<ServerUnderTest> {
  const server = await startEmbeddedKubernetes(options);
  const directory = await scratchDirectory('embedded-kubernetes');
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, server.kubeconfig, { mode: 0o600 });
  const { url, token, ca } = server;
  const { certificate: cert, key } = server.adminCertificate;
  const dropHistory = () => Promise.resolve(server.expireHistory());
  const endpoint = { url, token, ca, kubeconfig, adminCertificate: { cert, key }, dropHistory };
  return underTest(endpoint, async () => {
    await server.stop();
    await removeDirectory(directory);
  });
}

export async function startRealServer(options: KubernetesOptions = {}): Promise<ServerUnderTest> {
  const server = await startKubernetes(options);
  const [cert, key] = await Promise.all([
    fs.readFile(server.adminCertificate.certificate, 'utf8'),
    fs.readFile(server.adminCertificate.key, 'utf8'),
  ]);
  const dropHistory = async () => {
    await server.etcd.compact();
    await server.restart();
  };
  return underTest({ ...server, adminCertificate: { cert, key }, dropHistory }, () =>
    server.stop(),
  );
}

async function underTest(
  { url, token, ca, kubeconfig, adminCertificate, dropHistory }: Endpoint,
  stop: () => Promise<void>,
): Promise<ServerUnderTest> {
  const dispatcher = new Agent({ connect: { ca } });
  const authorization = `Bearer ${token}`;
  const kubectlProgram = await ensureProgram('kubectl');
  const home = await scratchDirectory('kubectl-home');
  return {
    url,
    ca,
    kubeconfig,
    adminCertificate,
    dropHistory,
    kubectlProgram,
    async call(method, path, { body, contentType = 'application/json', headers = {} } = {}) {
      const answer = await request(`${url}${path}`, {
        method: method as 'GET',
        dispatcher,
        headers: {
          authorization,
          ...(body === undefined ? {} : { 'content-type': contentType }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, body: parsed(text) };
    },
    watch: (path, headers = {}) =>
      openWatch(`${url}${path}`, dispatcher, { authorization, ...headers }),
    kubectl: (args, input) =>
      runProgram(kubectlProgram, ['--kubeconfig', kubeconfig, ...args], {
        // Its own home, so that servers don't share cached discovery.
        env: { HOME: home, KUBECTL_KUBERC: 'false' },
        ...(input === undefined ? {} : { input }),
      }),
    async stop() {
      await dispatcher.destroy();
      await stop();
      await removeDirectory(home);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function openWatch(
  url: string,
  dispatcher: Agent,
  headers: Readonly<Record<string, string>>,
): Promise<OpenWatch> {
  const controller = new AbortController();
  const answer = await request(url, { dispatcher, headers, signal: controller.signal });
  const lines = linesOf(answer.body);
  return {
    status: answer.statusCode,
    async next() {
      const timer = setTimeout(() => {
        controller.abort(new Error(`nothing came for ${patienceMs} ms on ${url}`));
      }, patienceMs);
      try {
        const { value, done } = await lines.next();
        return done === true ? undefined : (JSON.parse(value) as WatchEvent);
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      answer.body.on('error', () => {});
      controller.abort();
    },
  };
}

async function* linesOf(body: AsyncIterable<unknown>): AsyncGenerator<string, undefined> {
  const splitter = new LineSplitter();
  for await (const chunk of body) yield* splitter.push(chunk as Buffer);
  return undefined;
}
