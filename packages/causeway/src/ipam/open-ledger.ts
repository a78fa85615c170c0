import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import { EtcdLedger } from './etcd-ledger.ts';
import type { TlsFiles } from './etcd/grpc-connection.ts';
import type { Ledger } from './ledger.ts';
import type { IpamLedgerSettings } from './settings.ts';
import { SqliteLedger } from './sqlite-ledger.ts';

/** Opens the ledger of the settings. */
export async function openLedger(settings: IpamLedgerSettings, clock: Clock): Promise<Ledger> {
  const [, kind, place = ''] = /^(sqlite|etcd):(.+)$/.exec(settings.ledger) ?? [];
  if (kind === 'sqlite') return SqliteLedger.open(place);
  if (kind !== 'etcd') {
    throw new CausewayError('invalid', `${JSON.stringify(settings.ledger)} is not a ledger`, {
      hint: 'Write sqlite:FILE or etcd:https://HOST:2379,https://HOST:2379.',
    });
  }
  const { root, user, passwordFile } = settings.etcd;
  const password = (await readIfNamed(passwordFile))?.trim();
  if ((user === undefined) !== (password === undefined)) {
    throw new CausewayError('invalid', 'etcd.user and etcd.passwordFile go together');
  }
  // A file that is missing at the start is a configuration error.
  await readTls(settings);
  return new EtcdLedger({
    endpoints: place.split(',').map(parseEndpoint),
    root,
    clock,
    tls: () => readTls(settings).catch(retryLater),
    user: user === undefined || password === undefined ? undefined : { name: user, password },
  });
}

async function readTls({ etcd }: IpamLedgerSettings): Promise<TlsFiles> {
  const { caFile, certificateFile, keyFile } = etcd;
  return {
    ca: await readIfNamed(caFile),
    certificate: await readIfNamed(certificateFile),
    key: await readIfNamed(keyFile),
  };
}

/** A file that is missing later is being replaced, or the operator must restore it. */
function retryLater(error: unknown): never {
  throw new CausewayError('unavailable', CausewayError.from(error).message, { cause: error });
}

function parseEndpoint(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} is not an endpoint of etcd`, {
      hint: 'Write it as https://HOST:2379.',
    });
  }
  return url.origin;
}

/** The text of an optional file. */
export async function readIfNamed(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return fs.readFile(file, 'utf8').catch((error: unknown) => {
    throw new CausewayError('not-found', `${file} can't be read`, { cause: error });
  });
}
