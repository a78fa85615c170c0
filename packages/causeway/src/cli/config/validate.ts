import { Command, Option } from 'commander';
import type { z } from 'zod';
import { announcerKind } from '../../gateway/agent/announce/kinds.ts';
import { agentSettings } from '../../gateway/agent/settings.ts';
import {
  namedFiles as agentFiles,
  settingsProblems as agentProblems,
} from '../../gateway/agent/settings-problems.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { loadConfig } from '@causeway/base/settings/load-settings';
import { discoverySettings } from '../../discovery/settings.ts';
import { ipamServerSettings } from '../../ipam/settings.ts';
import { proxySettings } from '../../node-proxy/settings.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import {
  namedFiles as controllerFiles,
  settingsProblems as controllerProblems,
} from '../controller/settings-check.ts';
import { readTextFile } from '../terminal/read-text-file.ts';

/** What a configuration says beside its syntax. */
interface Reading {
  readonly problems: readonly string[];
  /** The files that the configuration names, by setting. */
  readonly files: Readonly<Record<string, string | undefined>>;
}

const nothing: Reading = { problems: [], files: {} };

/** Reads a file as the command does. Throws an error with all problems of the syntax. */
const readers: Readonly<Record<string, (file: string) => Promise<Reading>>> = {
  async agent(file) {
    const settings = await read(agentSettings, file);
    announcerKind(settings).check(settings);
    return { problems: agentProblems(settings), files: agentFiles(settings) };
  },
  async controller(file) {
    const settings = await read(controllerCommandSettings, file);
    return { problems: controllerProblems(settings), files: controllerFiles(settings) };
  },
  discover: (file) => read(discoverySettings, file).then(() => nothing),
  'ipam-serve': (file) => read(ipamServerSettings, file).then(() => nothing),
  proxy: (file) => read(proxySettings, file).then(() => nothing),
};

/** Throws `invalid` with all problems of the file. */
export async function validateConfig(
  command: string,
  file: string,
  { checksFiles }: { readonly checksFiles: boolean },
): Promise<void> {
  const { problems, files } = (await readers[command]?.(file)) ?? nothing;
  const missing = checksFiles ? await missingFiles(files) : [];
  const all = [...problems, ...missing];
  if (all.length > 0) throw new CausewayError('invalid', `${file}: ${all.join('; ')}`);
}

async function missingFiles(files: Reading['files']): Promise<string[]> {
  const problems: string[] = [];
  for (const [setting, file] of Object.entries(files)) {
    if (file === undefined) continue;
    try {
      await readTextFile(file);
    } catch (error) {
      problems.push(`${setting}: ${CausewayError.from(error).message}`);
    }
  }
  return problems;
}

/** Without environment and flags: this command's differ from the other command's. */
function read<Schema extends z.ZodType>(schema: Schema, file: string): Promise<z.output<Schema>> {
  return loadConfig(schema, { file, environment: {}, flags: {} });
}

/** `causeway config validate`: reads a file as the command does, and reports all problems. */
export function validateCommand(): Command {
  return new Command('validate')
    .description('read a configuration file as the command does, and report problems')
    .argument('<file>', 'YAML file with the settings')
    .addOption(
      new Option('--for <command>', 'command that the settings are for')
        .choices(Object.keys(readers))
        .makeOptionMandatory(),
    )
    .option('--skip-files', 'do not check the files of secrets and certificates that it names')
    .action(async (file: string, options: { for: string; skipFiles?: boolean }) => {
      await validateConfig(options.for, file, { checksFiles: options.skipFiles !== true });
      process.stdout.write(`${file} is valid for causeway ${options.for}.\n`);
    });
}
