import { Command, Option } from 'commander';
import type { z } from 'zod';
import { agentSettings, keepalivedSettings } from '../../gateway/agent/settings.ts';
import { loadConfig } from '@causeway/base/settings/load-settings';
import { discoverySettings } from '../../discovery/settings.ts';
import { ipamServerSettings } from '../../ipam/settings.ts';
import { proxySettings } from '../../node-proxy/settings.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';

/** Reads a file as a command would. Throws with everything that is wrong. */
const readers: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  async agent(file) {
    const settings = await read(agentSettings, file);
    if (settings.addresses.mover === 'keepalived') keepalivedSettings(settings);
  },
  controller: (file) => read(controllerCommandSettings, file),
  discover: (file) => read(discoverySettings, file),
  'ipam-serve': (file) => read(ipamServerSettings, file),
  proxy: (file) => read(proxySettings, file),
};

/** The environment and flags of this command are not those that the other one will have. */
function read<Schema extends z.ZodType>(schema: Schema, file: string): Promise<z.output<Schema>> {
  return loadConfig(schema, { file, environment: {}, flags: {} });
}

/** `causeway config validate`: reads a file as the command would, and says everything that is wrong. */
export function configCommand(): Command {
  const validate = new Command('validate')
    .description('read a configuration file as the command would, and say what is wrong with it')
    .argument('<file>', 'YAML file with the settings')
    .addOption(
      new Option('--for <command>', 'whose settings they are')
        .choices(Object.keys(readers))
        .makeOptionMandatory(),
    )
    .action(async (file: string, options: { for: string }) => {
      await readers[options.for]?.(file);
      process.stdout.write(`${file} is valid for causeway ${options.for}.\n`);
    });
  return new Command('config').description('configuration files').addCommand(validate);
}
