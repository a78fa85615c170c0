import { execFile } from 'node:child_process';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { untilAborted } from '@causeway/base/time/until-aborted';
import {
  bearer,
  type Credentials,
  type CredentialSource,
  type RequestHeaders,
} from './credentials.ts';

export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string | undefined;
  /** Passed to the plug-in if the configuration requests it. */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: RequestHeaders | undefined;
}

const answerSchema = z.looseObject({
  kind: z.literal('ExecCredential'),
  apiVersion: z.string(),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

const pluginTimeLimitMs = 60_000;
const largestAnswerBytes = 1024 * 1024;
/** Credentials are renewed this long before they expire, so that none expires during a request. */
const renewBeforeMs = 10_000;

/** Runs a credential plug-in, and again when its credentials expire or are refused. */
export class ExecCredentialSource implements CredentialSource {
  readonly #plugin: ExecPlugin;
  readonly #clock: Clock;
  #held: { readonly credentials: Credentials; readonly untilWallTime: number } | undefined;
  #running: Promise<Credentials> | undefined;

  constructor(plugin: ExecPlugin, clock: Clock) {
    this.#plugin = plugin;
    this.#clock = clock;
  }

  current(signal: AbortSignal): Promise<Credentials> {
    const held = this.#held;
    if (held !== undefined && this.#clock.wallTime() < held.untilWallTime) {
      return Promise.resolve(held.credentials);
    }
    // One run serves all waiting callers; it ends by its own time limit, not with the first caller.
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return untilAborted(this.#running, signal);
  }

  refused(): void {
    this.#held = undefined;
  }

  async #run(): Promise<Credentials> {
    const text = await withDeadline(
      this.#clock,
      pluginTimeLimitMs,
      undefined,
      `the credential plug-in ${this.#plugin.command}`,
      (signal) => runPlugin(this.#plugin, signal),
    );
    const { credentials, expires } = readExecAnswer(this.#plugin, text);
    this.#held = {
      credentials,
      untilWallTime: expires === undefined ? Infinity : expires - renewBeforeMs,
    };
    return credentials;
  }
}

function runPlugin(plugin: ExecPlugin, signal: AbortSignal): Promise<string> {
  const request = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(plugin.cluster === undefined ? {} : { cluster: plugin.cluster }),
    },
  };
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(request) };
  return new Promise((resolve, reject) => {
    const child = execFile(
      plugin.command,
      [...plugin.args],
      { env, signal, maxBuffer: largestAnswerBytes },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
          return;
        }
        const said = stderr.trim().split('\n').at(-1) ?? '';
        reject(
          new CausewayError(
            'unauthorized',
            `the credential plug-in ${plugin.command} failed: ${said === '' ? reasonOf(error) : said}`,
            {
              cause: error,
              hint: plugin.installHint ?? `Run ${plugin.command} by hand to see why.`,
            },
          ),
        );
      },
    );
    child.stdin?.on('error', () => {}).end();
  });
}

/** Never the message of the error: it contains the whole command line, which may contain a secret. */
function reasonOf(error: Error & { code?: unknown }): string {
  if (error.code === 'ENOENT') return 'no such program';
  return typeof error.code === 'number' ? `exit code ${error.code}` : error.name;
}

/** Parses the output of a plug-in as credentials; errors do not quote it. */
export function readExecAnswer(
  plugin: ExecPlugin,
  text: string,
): { credentials: Credentials; expires: number | undefined } {
  const answer = answerSchema.safeParse(parseJson(text));
  const status = answer.data?.status;
  const certificate = status?.clientCertificateData;
  const key = status?.clientKeyData;
  if (
    status === undefined ||
    answer.data?.apiVersion !== plugin.apiVersion ||
    (certificate === undefined) !== (key === undefined) ||
    (status.token === undefined && certificate === undefined)
  ) {
    throw new CausewayError(
      'unauthorized',
      `the credential plug-in ${plugin.command} did not print an ExecCredential of ${plugin.apiVersion} with a token or a client certificate and its key`,
    );
  }
  const expires = Date.parse(status.expirationTimestamp ?? '');
  return {
    credentials: {
      headers: {
        ...plugin.headers,
        ...(status.token === undefined ? {} : { authorization: bearer(status.token) }),
      },
      ...(certificate === undefined || key === undefined
        ? {}
        : { clientCertificate: { certificate, key } }),
    },
    expires: Number.isNaN(expires) ? undefined : expires,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
