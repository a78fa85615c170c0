import { Command } from 'commander';
import { cloudletImport, parseCloudletIps } from '../../ipam/cloudlet-ips.ts';
import { handOver, speaksWithServer, withServer } from './connection.ts';
import { readTextFile } from '../terminal/read-text-file.ts';

/** `causeway ipam import-cloudlet`: takes over the addresses of an EdgeXR cloudlet. */
export function importCommand(): Command {
  const command = new Command('import-cloudlet')
    .description(
      'take over the addresses of an EdgeXR cloudlet (docs/ipam.md describes the format)',
    )
    .argument('<file>', 'JSON of the CloudletIPs object')
    .option(
      '--credential-directory <directory>',
      'write each cluster’s token to a file in this directory',
    );
  return speaksWithServer(command).action(
    async (file: string, { credentialDirectory }: { credentialDirectory?: string }) => {
      const cloudlet = parseCloudletIps(await readTextFile(file));
      await withServer(command, async (call) => {
        const tokens = await cloudletImport(cloudlet, call);
        for (const [cluster, token] of Object.entries(tokens)) {
          if (credentialDirectory === undefined) continue;
          await handOver(token, `${credentialDirectory}/${cluster}.token`);
        }
        process.stdout.write(`${Object.keys(tokens).length} clusters taken over\n`);
      });
    },
  );
}
