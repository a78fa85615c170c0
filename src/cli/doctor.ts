import { Command } from 'commander';
import { machineChecks } from '../doctor/machine-checks.ts';
import { clusterChecks } from '../doctor/cluster-checks.ts';
import type { Finding } from '../doctor/check.ts';
import { CausewayError } from '../domain/error.ts';
import { printableLines } from '../domain/printable.ts';
import { KubeClient } from '../kube/client.ts';
import { findConnection } from '../kube/connection.ts';
import { HttpTransport } from '../kube/http-transport.ts';
import { systemClock } from '../runtime/clock.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { addClusterOptions, type ClusterOptions } from './cluster-connection.ts';
import { style } from './output.ts';
import { stopSignal } from './stop-signal.ts';
import { causewayVersion } from './version.ts';

const checkWithinMs = 10_000;

/** `causeway doctor`: what is wrong with this machine and the way to the cluster, each with a fix. */
export function doctorCommand(): Command {
  const command = new Command('doctor').description(
    'look at this machine and the way to the cluster: what is wrong, and what to do about it',
  );
  addClusterOptions(command);
  return command.action(async (options: ClusterOptions) => {
    const signal = stopSignal();
    const { client, whyNot } = await open(options);
    let problems = 0;
    print('causeway', { kind: 'fine', text: `${causewayVersion()}, Node ${process.version}` });
    try {
      for (const check of [...machineChecks, ...clusterChecks(client, whyNot, systemClock)]) {
        const finding = await withDeadline(
          systemClock,
          checkWithinMs,
          signal,
          check.name,
          (limit) => check.run(limit),
        ).catch((error: unknown): Finding => {
          signal.throwIfAborted();
          const fix = 'Try again; if it stays so, something hangs.';
          return { kind: 'problem', text: CausewayError.from(error).message, fix };
        });
        if (finding.kind === 'problem') problems += 1;
        print(check.name, finding);
      }
    } finally {
      await client?.close();
    }
    if (problems > 0) process.exitCode = 1;
  });
}

async function open(
  options: ClusterOptions,
): Promise<{ client: KubeClient | undefined; whyNot: string }> {
  const clock = systemClock;
  try {
    const connection = await findConnection({ ...options, env: process.env, clock });
    const transport = new HttpTransport(connection, clock);
    return { client: new KubeClient({ transport, clock }), whyNot: '' };
  } catch (error) {
    return { client: undefined, whyNot: CausewayError.from(error).message };
  }
}

const marks = {
  fine: style('green', '✓'),
  warning: style('yellow', '!'),
  problem: style('red', '✗'),
  skipped: style('dim', '-'),
} as const;

function print(name: string, finding: Finding): void {
  const fix = finding.kind === 'warning' || finding.kind === 'problem' ? finding.fix : undefined;
  const line = `${marks[finding.kind]} ${name.padEnd(24)} ${printableLines(finding.text)}\n`;
  process.stdout.write(
    fix === undefined ? line : `${line}  ${''.padEnd(24)} → ${printableLines(fix)}\n`,
  );
}
