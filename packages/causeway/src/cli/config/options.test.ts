import { Command } from 'commander';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addConfigOptions, addQueryOptions, readConfig } from './options.ts';

const schema = z.strictObject({
  logLevel: z.enum(['debug', 'info']).default('info').describe('What to log.'),
  metrics: z
    .strictObject({ port: z.number().default(9100).describe('Port of the metrics.') })
    .prefault({}),
  dryRun: z.boolean().default(false).describe('Change nothing.'),
});

async function parse(...args: string[]) {
  const command = addConfigOptions(
    new Command('test').exitOverride().configureOutput({ writeErr() {} }),
    schema,
  );
  command.parse(args, { from: 'user' });
  return { config: await readConfig(command, schema), help: command.helpInformation() };
}

test('has a flag for every setting with its description and default', async () => {
  const { config, help } = await parse('--metrics-port', '1', '--dry-run', '--log-level', 'debug');
  expect(config).toEqual({ logLevel: 'debug', metrics: { port: 1 }, dryRun: true });
  expect(help).toMatch(/--metrics-port <number>\s+Port of the metrics\. \(default: 9100\)/);
});

test('a query command has only the named flags, and reads the other settings from the file or the environment', async () => {
  const command = addQueryOptions(new Command('query'), schema, ['--dry-run']);
  const help = command.helpInformation();
  expect(help).toContain('--dry-run');
  expect(help).toContain('--config');
  expect(help).not.toContain('--metrics-port');
  command.parse(['--dry-run'], { from: 'user' });
  expect(await readConfig(command, schema)).toMatchObject({
    dryRun: true,
    metrics: { port: 9100 },
  });
});

test('a query command rejects a flag that no setting has', () => {
  expect(() => addQueryOptions(new Command('query'), schema, ['--none'])).toThrow(
    'no setting has the flag --none',
  );
});

test('accepts false for a boolean, and only listed values for a choice', async () => {
  expect((await parse('--dry-run', 'false')).config.dryRun).toBe(false);
  await expect(parse('--log-level', 'loud')).rejects.toThrow('Allowed choices are debug, info');
});
