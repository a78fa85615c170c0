import { Command } from 'commander';
import { listSitesCommand } from './list.ts';
import { resumeSiteCommand } from './resume.ts';
import { setSiteCommand } from './set.ts';

/** `causeway ipam sites`: networks within which an address is unique. */
export function sitesCommand(): Command {
  const sites = new Command('sites').description('networks within which an address is unique');
  for (const command of [setSiteCommand(), listSitesCommand(), resumeSiteCommand()]) {
    sites.addCommand(command);
  }
  return sites;
}
