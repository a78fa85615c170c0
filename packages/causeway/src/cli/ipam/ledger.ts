import fs from 'node:fs/promises';
import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { backupSchema, moveLedger, restoreBackup, suspendAll } from '../../ipam/backup.ts';
import { createFirstOperator, createOperator } from '../../ipam/init.ts';
import type { Ledger } from '../../ipam/ledger.ts';
import { openLedger } from '../../ipam/open-ledger.ts';
import {
  ipamLedgerSettings,
  ipamServerSettings,
  type IpamLedgerSettings,
} from '../../ipam/settings.ts';
import { systemClock } from '@causeway/base/time/clock';
import { addConfigOptions, readConfig } from '../config/options.ts';
import { handOver } from './connection.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** Commands that use a ledger directly, without a server or an operator's credential. */
export function ledgerCommands(): Command[] {
  return [initCommand(), restoreCommand(), recoverCommand(), moveCommand()];
}

interface InitOptions {
  readonly name: string;
  readonly credentialFile?: string;
  readonly once?: boolean;
}

function initCommand(): Command {
  const command = new Command('init')
    .description('create an operator’s credential in a ledger, for the first time or after a loss')
    .option('--name <text>', 'name of its owner, for the audit log', 'first')
    .option('--credential-file <file>', 'write the token to this file instead of printing it')
    .option('--once', 'only if the ledger has no operator yet; requires --credential-file');
  return onLedger(command, async (ledger, signal) => {
    const { name, credentialFile, once } = command.opts<InitOptions>();
    const now = systemClock.wallTime();
    if (once !== true) {
      await handOver(await createOperator(ledger, name, now, signal), credentialFile);
      return;
    }
    if (credentialFile === undefined) {
      throw new CausewayError('invalid', '--once requires --credential-file');
    }
    const isMade = await createFirstOperator(ledger, credentialFile, name, now, signal);
    const made = `the first operator's token is in ${credentialFile}`;
    process.stdout.write(`${isMade ? made : 'the ledger already has an operator'}\n`);
  });
}

function restoreCommand(): Command {
  const command = new Command('restore')
    .description('restore an empty ledger from a backup; its sites start in recovery')
    .argument('<file>', 'file written by "causeway ipam backup"');
  return onLedger(command, async (ledger, signal) => {
    const [file = ''] = command.args;
    const backup = await readBackup(file);
    const now = systemClock.wallTime();
    const count = await restoreBackup(ledger, backup, 'restore', now, signal);
    process.stdout.write(
      `restored ${count} keys; no new addresses until "causeway ipam sites resume SITE"\n`,
    );
  });
}

function recoverCommand(): Command {
  const command = new Command('recover').description(
    'after etcd itself was restored: no new addresses until the clusters have confirmed theirs',
  );
  return onLedger(command, async (ledger, signal) => {
    const sites = await suspendAll(ledger, 'recovering', systemClock.wallTime(), signal);
    process.stdout.write(`recovering: ${sites.join(', ')}\n`);
  });
}

function moveCommand(): Command {
  const command = new Command('move')
    .description('copy a ledger into an empty one and close the old one for changes')
    .requiredOption('--to <ledger>', 'sqlite:FILE or etcd:URL,URL…')
    .option('--to-root <root>', 'etcd root of the new ledger');
  return onLedger(command, async (source, signal) => {
    const { to, toRoot } = command.opts<{ to: string; toRoot?: string }>();
    const settings = await readLedgerConfig(command);
    const etcd = toRoot === undefined ? settings.etcd : { ...settings.etcd, root: toRoot };
    const target = await openLedger({ ...settings, ledger: to, etcd }, systemClock);
    try {
      const count = await moveLedger(source, target, systemClock.wallTime(), signal);
      process.stdout.write(`moved ${count} keys to ${to}\n`);
    } finally {
      await target.close();
    }
  });
}

function onLedger(
  command: Command,
  work: (ledger: Ledger, signal: AbortSignal) => Promise<void>,
): Command {
  addConfigOptions(command, ipamLedgerSettings);
  return command.action(async () => {
    const ledger = await openLedger(await readLedgerConfig(command), systemClock);
    try {
      await work(ledger, stopSignal());
    } finally {
      await ledger.close();
    }
  });
}

/**
 * The file may be the server's: settings that are not about its ledger have no flags here and are ignored.
 */
function readLedgerConfig(command: Command): Promise<IpamLedgerSettings> {
  return readConfig(command, ipamServerSettings);
}

async function readBackup(file: string) {
  const text = await fs.readFile(file, 'utf8').catch((error: unknown) => {
    throw new CausewayError('not-found', `${file} can't be read`, { cause: error });
  });
  try {
    return backupSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new CausewayError('invalid', `${file} is not a backup of the allocator`, {
      cause: error,
    });
  }
}
