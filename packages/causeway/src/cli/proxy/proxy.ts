import { Command } from 'commander';
import { cleanUpProxyCommand } from './cleanup.ts';
import { proxyDefinitionsCommand } from './crds.ts';
import { runProxyCommand } from './run.ts';

/** `causeway proxy`: serves Services on a node, in place of kube-proxy or beside it. */
export function proxyCommand(): Command {
  const proxy = new Command('proxy').description('serve Services on a node with nftables');
  proxy.addCommand(runProxyCommand(), { isDefault: true });
  proxy.addCommand(cleanUpProxyCommand());
  proxy.addCommand(proxyDefinitionsCommand());
  return proxy;
}
