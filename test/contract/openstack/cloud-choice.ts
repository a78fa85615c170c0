/** The clouds that tests run on: in this process, or the real services. */
export type CloudKind = 'embedded' | 'real';

const kinds: readonly CloudKind[] = ['embedded', 'real'];

/** CAUSEWAY_CLOUD selects one kind, for a quick run. Under CI every cloud runs, regardless of it. */
export function chosenKinds(
  environment: Readonly<Record<string, string | undefined>>,
): readonly CloudKind[] {
  const only = environment['CAUSEWAY_CLOUD'];
  if (only === undefined) return kinds;
  const chosen = kinds.filter((kind) => kind === only);
  if (chosen.length === 0) {
    throw new Error(`CAUSEWAY_CLOUD is ${only}; the supported values are ${kinds.join(' and ')}`);
  }
  return environment['CI'] === 'true' ? kinds : chosen;
}
