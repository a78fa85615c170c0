import { styleText } from 'node:util';
import { pino, type DestinationStream } from 'pino';
import { CausewayError } from '../error/causeway-error.ts';
import { withoutControls } from '../text/printable.ts';
import type { Log } from './log.ts';
import { LossyDestination } from './lossy-destination.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Text for people on a terminal, JSON for everything else. */
  readonly format: 'json' | 'text';
  readonly destination: DestinationStream;
  /** Set only if the destination is a terminal with colors. */
  readonly colors?: boolean;
}

/** Fields with these names are secrets, at every depth that Causeway logs. */
const secretNames = [
  ...['password', 'secret', 'token', 'authorization', 'credential', 'privateKey', 'sharedSecret'],
  ...['passwd', 'apiKey', 'clientKey', 'keyData'],
];
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

const lostLines = 'lines of the log were lost';

/** The log of a process: pino, with errors in full and without secrets. */
export function createLog(options: LoggerOptions): Log {
  const isJson = options.format === 'json';
  const target = new LossyDestination(options.destination, (lost) =>
    isJson ? JSON.stringify({ level: 'warn', lost, msg: lostLines }) : `${lost} ${lostLines}`,
  );
  const destination = isJson ? target : textDestination(target, options.colors ?? false);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths, censor: '(secret)' },
      serializers: { error: describeError },
    },
    destination,
  );
}

interface ErrorDescription {
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
  readonly requestId?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** The other side's ID of the request, which helps to find it in that side's logs. */
function hasRequestId(error: Error): error is Error & { requestId: string } {
  return 'requestId' in error && typeof error.requestId === 'string';
}

/** Logs selected fields only: a foreign error can contain a whole request with its headers. */
function describeError(thrown: unknown): ErrorDescription {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const isOurs = thrown instanceof CausewayError;
  return {
    message: thrown.message,
    ...(isOurs ? { code: thrown.code } : {}),
    ...(isOurs && thrown.hint !== undefined ? { hint: thrown.hint } : {}),
    ...(isOurs && hasRequestId(thrown) ? { requestId: thrown.requestId } : {}),
    ...(isOurs && thrown.code !== 'internal' ? {} : { stack: thrown.stack ?? '' }),
    ...(thrown.cause === undefined ? {} : { cause: describeError(thrown.cause) }),
  };
}

const levelStyles = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

function textDestination(target: DestinationStream, colors: boolean): DestinationStream {
  const paint = (style: 'gray' | 'green' | 'yellow' | 'red', text: string) =>
    colors ? styleText(style, text, { validateStream: false }) : text;
  return {
    write(line) {
      const { level, time, msg, ...fields } = JSON.parse(line) as {
        level: LogLevel;
        time: string;
        msg?: string;
      } & Record<string, unknown>;
      const rest = Object.entries(fields).map(
        ([key, value]) => `${key}=${withoutControls(formatField(value))}`,
      );
      const message = withoutControls(msg ?? '');
      const head = `${paint('gray', time.slice(11, 23))} ${paint(levelStyles[level], level.padEnd(5))}`;
      target.write(
        `${head} ${message}${rest.length === 0 ? '' : paint('gray', `  ${rest.join(' ')}`)}\n`,
      );
    },
  };
}

function formatField(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}
