import { Option, type Command } from 'commander';
import type { z } from 'zod';
import { loadConfig, type ConfigConverter } from '@causeway/base/settings/load-settings';
import { settingsOf, type Setting } from '@causeway/base/settings/settings';

/** Gives a command `--config` and a flag for every setting of its schema. */
export function addConfigOptions(command: Command, schema: z.ZodType): Command {
  command.option('-c, --config <file>', 'YAML file with the settings');
  for (const setting of settingsOf(schema)) command.addOption(optionFor(setting));
  return command;
}

/**
 * The command's configuration: flags over environment over file over defaults. A file of another form
 * is handed to `convert`, which answers with ours, or undefined if it is in our form already.
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
