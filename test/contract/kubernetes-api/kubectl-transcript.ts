import type { KubectlScenario } from './kubectl-scenarios.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { withoutChance } from './transcript.ts';

export interface Printed {
  readonly command: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The output of kubectl for each command of a scenario, in its own namespace. */
export async function transcribeKubectl(
  server: ServerUnderTest,
  { name, commands }: KubectlScenario,
): Promise<readonly Printed[]> {
  const namespace = name
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')
    .slice(0, 40);
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await server.kubectl(['create', '-f', '-'], JSON.stringify(object));
  const transcript: Printed[] = [];
  for (const [args, input] of commands) {
    const { code, stdout, stderr } = await server.kubectl(['-n', namespace, ...args], input);
    transcript.push({
      command: args.join(' '),
      code,
      stdout: comparable(stdout),
      stderr: comparable(stderr),
    });
  }
  return transcript;
}

/** Ages, ports, versions and dates differ between runs; so do the blanks that align columns. */
function comparable(text: string): string {
  if (text.startsWith('{')) return JSON.stringify(withoutChance(JSON.parse(text)), undefined, 1);
  return (
    (withoutChance(text) as string)
      .replaceAll(/\b\d+(ms|s|m)\b/g, '<age>')
      .replaceAll(/\b3[0-2]\d{3}\b/g, '<port>')
      .replaceAll(/resourceVersion: "\d+"/g, 'resourceVersion: <version>')
      .replaceAll(/cm-[a-z0-9]{5}\b/g, 'cm-<suffix>')
      .replaceAll(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, '<date>')
      .replaceAll(/^E\d{4} \d\d:\d\d:\d\d.*$/gm, '<log>')
      // Descriptions of fields are text for people, which the fake does not copy.
      .replaceAll(/<no description>|<empty>/g, '')
      .replace(/DESCRIPTION:.*FIELDS:/s, 'FIELDS:')
      .replaceAll(/ +/g, ' ')
  );
}
