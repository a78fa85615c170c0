// Writes the schemas of the built-in kinds that the embedded Kubernetes API serves, as a real
// kube-apiserver publishes them, without their descriptions. The contract suite compares the two.

import fs from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import {
  builtInKinds,
  documentName,
  schemasOf,
  type OpenApiDocument,
} from '../test/services/kubernetes-schemas.ts';
import { startKubernetes } from '../test/services/kubernetes.ts';

const target = path.join(
  path.dirname(import.meta.dirname),
  'src/sandbox/kubernetes/openapi/built-in-schemas.json',
);

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
  const lines = Object.keys(schemas)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(schemas[name])}`);
  await fs.writeFile(target, `{\n${lines.join(',\n')}\n}\n`);
  console.log(`${lines.length} schemas written to ${path.relative(process.cwd(), target)}`);
  await dispatcher.close();
} finally {
  await server.stop();
}
