import type { AgentStatus } from '../../gateway/protocol/agent-status.ts';
import { describeRole } from '../../gateway/protocol/role.ts';
import { printObjects, type OutputFormat } from '../terminal/output.ts';

export function printStatus(format: OutputFormat, status: AgentStatus): void {
  printObjects(
    format,
    [status],
    [
      { title: 'agent', value: ({ agent }) => agent },
      { title: 'generation', value: ({ generation }) => String(generation) },
      { title: 'frontends', value: ({ frontends }) => String(frontends) },
      { title: 'older', value: ({ older }) => String(older.length) },
      { title: 'withheld', value: ({ withheld }) => String(withheld?.length ?? '-') },
      { title: 'role', value: ({ announcer: { role, reason } }) => describeRole(role, reason) },
      { title: 'overrides', value: describeOverrides },
      { title: 'alarms', value: ({ alarms }) => alarms.join('; ') || '-' },
    ],
  );
}

function describeOverrides({ frozen, drained, removal = null }: AgentStatus): string {
  const pulled = [
    frozen === null ? undefined : `frozen (${frozen.reason})`,
    drained === null ? undefined : `drained (${drained.reason})`,
    removal === null ? undefined : `removal allowed (${removal.reason})`,
  ].filter((text) => text !== undefined);
  return pulled.join(', ') || '-';
}
