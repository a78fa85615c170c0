import { Command } from 'commander';

export const reasonOption = ['-r, --reason <text>', 'reason, for the audit log'] as const;

export const inUseOption = [
  '--in-use',
  'the named addresses are in use already; accepted while a site recovers',
] as const;

export const isInUse = (command: Command) => command.opts<{ inUse?: boolean }>().inUse;

export const withdrawnOption = [
  '--withdrawn',
  'an operator has verified that nothing is announced any more: use the shorter quarantine',
] as const;

export const onCluster = (name: string) =>
  new Command(name).argument('<site>').argument('<cluster>');
