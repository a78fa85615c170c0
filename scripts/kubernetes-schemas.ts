// Writes the schemas of the built-in kinds that the embedded Kubernetes API serves, as a real
// kube-apiserver publishes them, without their descriptions, and the numbers that their fields have in
// protobuf. The contract suite compares the schemas with those of a real server.

import fs from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import {
  builtInKinds,
  documentName,
  schemasOf,
  type OpenApiDocument,
} from '../test/services/kubernetes-schemas.ts';
import { readFieldNumbers } from './kubernetes-field-numbers.ts';
import { startKubernetes } from '../test/services/kubernetes.ts';

const root = path.dirname(import.meta.dirname);

/** One entry per line, for readable diffs. */
async function write(name: string, table: Readonly<Record<string, unknown>>): Promise<void> {
  const target = path.join(root, 'packages/fake-kubernetes/src/openapi', name);
  const lines = Object.keys(table)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(table[key])}`);
  await fs.writeFile(target, `{\n${lines.join(',\n')}\n}\n`);
  console.log(`${lines.length} entries written to ${path.relative(process.cwd(), target)}`);
}

const server = await startKubernetes();
try {
  const dispatcher = new Agent({ connect: { ca: server.ca } });
  const schemas: Record<string, unknown> = {};
  for (const [groupVersion, kinds] of Object.entries(builtInKinds)) {
    const answer = await request(`${server.url}/openapi/v3/${documentName(groupVersion)}`, {
      dispatcher,
      headers: { authorization: `Bearer ${server.token}` },
    });
    Object.assign(schemas, schemasOf((await answer.body.json()) as OpenApiDocument, kinds));
  }
  await write('built-in-schemas.json', schemas);
  const module = path.join(root, 'test/services/binaries/kubernetes');
  await write('field-numbers.json', await readFieldNumbers(module, Object.keys(schemas)));
  await dispatcher.close();
} finally {
  await server.stop();
}
