import { Command, Option } from 'commander';
import type { z } from 'zod';
import { announcerKind } from '../../gateway/agent/announce/kinds.ts';
import { agentSettings } from '../../gateway/agent/settings.ts';
import { loadConfig } from '@causeway/base/settings/load-settings';
import { discoverySettings } from '../../discovery/settings.ts';
import { ipamServerSettings } from '../../ipam/settings.ts';
import { proxySettings } from '../../node-proxy/settings.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';

/** Reads a file as the command does. Throws an error with all problems. */
const readers: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  async agent(file) {
    const settings = await read(agentSettings, file);
    announcerKind(settings).check(settings);
  },
  controller: (file) => read(controllerCommandSettings, file),
  discover: (file) => read(discoverySettings, file),
  'ipam-serve': (file) => read(ipamServerSettings, file),
  proxy: (file) => read(proxySettings, file),
};

/** Without environment and flags: this command's differ from the other command's. */
function read<Schema extends z.ZodType>(schema: Schema, file: string): Promise<z.output<Schema>> {
  return loadConfig(schema, { file, environment: {}, flags: {} });
}

/** `causeway config validate`: reads a file as the command does, and reports all problems. */
export function configCommand(): Command {
  const validate = new Command('validate')
    .description('read a configuration file as the command does, and report problems')
    .argument('<file>', 'YAML file with the settings')
    .addOption(
      new Option('--for <command>', 'command that the settings are for')
        .choices(Object.keys(readers))
        .makeOptionMandatory(),
    )
    .action(async (file: string, options: { for: string }) => {
      await readers[options.for]?.(file);
      process.stdout.write(`${file} is valid for causeway ${options.for}.\n`);
    });
  return new Command('config').description('configuration files').addCommand(validate);
}
