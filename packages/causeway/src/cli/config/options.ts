import { Option, type Command } from 'commander';
import type { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { loadConfig, type ConfigConverter } from '@causeway/base/settings/load-settings';
import { settingsOf, type Setting } from '@causeway/base/settings/settings';

/** Gives a command `--config` and a flag for every setting of its schema. */
export function addConfigOptions(command: Command, schema: z.ZodType): Command {
  command.option('-c, --config <file>', 'YAML file with the settings');
  for (const setting of settingsOf(schema)) command.addOption(optionFor(setting));
  return command;
}

/**
 * Gives a command `--config` and the named flags of a daemon's schema. Commands that query a daemon read the
 * daemon's file. The other settings come from that file or the environment.
 */
export function addQueryOptions(
  command: Command,
  schema: z.ZodType,
  flags: readonly string[],
): Command {
  command.option('-c, --config <file>', "YAML file with the daemon's settings");
  const settings = new Map(settingsOf(schema).map((setting) => [setting.flag, setting]));
  for (const flag of flags) {
    const setting = settings.get(flag);
    if (setting === undefined)
      throw new CausewayError('internal', `no setting has the flag ${flag}`);
    command.addOption(optionFor(setting));
  }
  return command;
}

/**
 * Reads the command's settings: flags, then environment, then file, then defaults. `convert` translates a file
 * in another program's form, and returns undefined for a file in Causeway's form.
 */
export function readConfig<Schema extends z.ZodType>(
  command: Command,
  schema: Schema,
  convert?: ConfigConverter,
): Promise<z.output<Schema>> {
  const given = command.opts<Record<string, unknown>>();
  const flags = Object.fromEntries(
    settingsOf(schema).map((setting) => [setting.flag, given[optionFor(setting).attributeName()]]),
  );
  const file = given['config'];
  return loadConfig(schema, {
    file: typeof file === 'string' ? file : undefined,
    environment: process.env,
    flags,
    convert,
  });
}

function optionFor(setting: Setting): Option {
  const value = { string: 'text', number: 'number', list: 'a,b', boolean: 'true|false' }[
    setting.kind
  ];
  const argument = setting.kind === 'boolean' ? `[${value}]` : `<${value}>`;
  const fallback = setting.defaultValue;
  const note =
    fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)
      ? ''
      : ` (default: ${JSON.stringify(fallback)})`;
  const option = new Option(`${setting.flag} ${argument}`, `${setting.description}${note}`);
  if (setting.kind === 'boolean') option.preset('true');
  if (setting.choices !== undefined) option.choices([...setting.choices]);
  return option;
}
