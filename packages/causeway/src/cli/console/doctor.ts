import { Command } from 'commander';
import { machineChecks } from '../../console/doctor/machine-checks.ts';
import { clusterChecks } from '../../console/doctor/cluster-checks.ts';
import type { Finding } from '../../console/doctor/check.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { printableLines } from '@causeway/base/text/printable';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { systemClock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { addClusterOptions, type ClusterOptions } from '../cluster/cluster-connection.ts';
import { exitCodes } from '../terminal/exit-code.ts';
import { addOutputOption, formatValue, style, type OutputFormat } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { causewayVersion } from '../terminal/version.ts';

const checkWithinMs = 10_000;

interface DoctorOptions extends ClusterOptions {
  readonly output: OutputFormat;
}

/** `causeway doctor`: problems of this machine and its connection to the cluster, each with a fix. */
export function doctorCommand(): Command {
  const command = new Command('doctor').description(
    'check this machine and its connection to the cluster, and suggest fixes; exit code 1 if there is a problem',
  );
  addOutputOption(addClusterOptions(command));
  return command.action(async (options: DoctorOptions) => {
    const signal = stopSignal();
    const { client, whyNot } = await open(options);
    const { output } = options;
    const isForPeople = output === 'table' || output === 'wide';
    const findings: (Finding & { readonly check: string })[] = [];
    const report = (check: string, finding: Finding) => {
      findings.push({ check, ...finding });
      if (isForPeople) print(check, finding);
    };
    report('causeway', { kind: 'fine', text: `${causewayVersion()}, Node ${process.version}` });
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
          const fix = 'Try again; if the timeout repeats, the check hangs.';
          return { kind: 'problem', text: CausewayError.from(error).message, fix };
        });
        report(check.name, finding);
      }
    } finally {
      await client?.close();
    }
    if (output === 'json' || output === 'yaml') {
      process.stdout.write(formatValue(output, findings));
    }
    if (findings.some(({ kind }) => kind === 'problem')) process.exitCode = exitCodes.failure;
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
