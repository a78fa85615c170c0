import type { Answer, CallOptions, ServerUnderTest } from './server-under-test.ts';

/** One request of a scenario: method, path and options. */
export type Step = readonly [method: string, path: string, options?: CallOptions];

/** A server's answer to each step, without everything that differs between runs. */
export async function transcribe(
  server: ServerUnderTest,
  steps: readonly Step[],
): Promise<readonly unknown[]> {
  const transcript: unknown[] = [];
  for (const [method, path, options] of steps) {
    const answer = await server.call(method, path, options);
    transcript.push({ request: `${method} ${path}`, ...comparable(answer) });
  }
  return transcript;
}

export function comparable({ status, body, headers }: Answer): object {
  const { warning } = headers;
  return {
    status,
    body: withoutChance(body),
    // With a conflict the real server warns or not, depending on the progress of an attempt before it was
    // repeated.
    ...(warning === undefined || status === 409 ? {} : { warning: [warning].flat() }),
  };
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** An age in a column, as `3s` or `2m10s`. */
const age = /^(?:\d+[dhms])+$/;
const ipv4 = /\b10\.96\.\d+\.\d+\b/g;
const ipv6 = /\bfd00:96::[0-9a-f]{1,4}\b/g;

/** Random and time-dependent values: only their presence is compared. */
export function withoutChance(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutChance(item, name));
    return name === 'causes' || name === 'managedFields' ? sortedDistinct(items) : items;
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        // Descriptions of columns and schemas are text for people, which the fake does not copy; a hash of
        // the storage form is internal to the server.
        .filter(([key]) => key !== 'description' && key !== 'storageVersionHash')
        .map(([key, field]) => [key, withoutChance(field, key)]),
    );
  }
  if (name === 'resourceVersion' || name === 'continue') return `<${name}>`;
  if (name === 'nodePort' || name === 'healthCheckNodePort') return `<${name}>`;
  if (typeof value !== 'string') return value;
  if (name === 'cells' && age.test(value)) return '<age>';
  return sortedCauses(value)
    .replace(/(json parse error: ).*/s, '$1…')
    .replace(/(continue key is not valid: ).*/s, '$1…')
    .replace(/( in scheme).*/s, '$1')
    .replace(
      /patch: Invalid value: ".*": (json|strict|converting)/s,
      'patch: Invalid value: "…": $1',
    )
    .replace(/^Invalid value: "\{.*": (json|strict|converting)/s, 'Invalid value: "…": $1')
    .replace(/in record \(\d+\)/, 'in record (…)')
    .replaceAll(uuid, '<uid>')
    .replaceAll(time, '<time>')
    .replaceAll(ipv4, '<ip>')
    .replaceAll(ipv6, '<ip>');
}

/**
 * A real server finds causes in a varying order, and some of them twice; it sorts owners by time, so that
 * their order depends on where a second ends.
 */
const sortedDistinct = (items: readonly unknown[]): readonly unknown[] =>
  [...new Set(items.map((item) => JSON.stringify(inKeyOrder(item))))]
    .sort()
    .map((text) => JSON.parse(text) as unknown);

function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, inKeyOrder(field)]),
  );
}

/** The message of a rejection lists its causes too: `… is invalid: [a, b]`. */
const sortedCauses = (message: string) =>
  message.replace(/(?<= is invalid: \[).*(?=\]$)/s, (list) =>
    list
      .split(/, (?=[a-z]+[.:[])/)
      .sort()
      .join(', '),
  );
