const kinds = new Map([
  ['endpoint', 'frontend'],
  ['removeEndpoint', 'removeFrontend'],
  ['noEndpoint', 'noFrontend'],
]);

/** The kind of a record of 0.1.0, which called a frontend `endpoint` in updates and in the agent's files. */
export function fromLegacyKind(kind: string): string {
  return kinds.get(kind) ?? kind;
}
