import fs from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { findLayerViolations } from './layers.ts';

let root = '';
beforeEach(async () => {
  root = await scratchDirectory('layers');
});
afterEach(() => removeDirectory(root));

async function write(files: Record<string, string>): Promise<string[]> {
  const all = {
    'base/package.json': '{ "name": "@causeway/base" }',
    'causeway/package.json':
      '{ "name": "@causeway/causeway", "dependencies": { "@causeway/base": "0" } }',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await fs.mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await fs.writeFile(path.join(root, name), text);
  }
  return findLayerViolations(root);
}

test('allows imports of own files, lower folders and declared packages', async () => {
  const files = {
    'base/src/a.ts': "import { b } from './b.ts';",
    'causeway/src/pool/a.ts':
      "import '@causeway/base/a';\nimport { s } from '../services/s.ts';\nimport { i } from '../ipam/i.ts';",
    'causeway/src/pool/a.test.ts': "import { g } from '../gateway/controller/g.ts';",
  };
  expect(await write(files)).toEqual([]);
});

test('names imports that cross a border', async () => {
  const files = {
    'base/src/a.ts':
      "import { x } from '@causeway/causeway/x';\nimport { y } from '../../causeway/src/y.ts';",
    'causeway/src/gateway/agent/a.ts': "const c = await import('../controller/c.ts');",
    'causeway/src/octavia/a.ts': "import type { g } from '../gateway/controller/g.ts';",
    'causeway/src/helpers/a.ts': "import { s } from '../services/s.ts';",
    'causeway/src/gateway/controller/ports/a.ts': "import { f } from '../fleet/f.ts';",
    'causeway/src/gateway/controller/reasons/a.ts': "import { c } from '../c.ts';",
    'causeway/src/gateway/controller/fleet/a.ts': "import { p } from '../ports/p.ts';",
  };
  expect(await write(files)).toEqual([
    'packages/base/src/a.ts: imports ../../causeway/src/y.ts, which leaves the package: import it by its name',
    'packages/base/src/a.ts: imports @causeway/causeway/x, but @causeway/base does not depend on @causeway/causeway',
    'packages/causeway/src/gateway/agent/a.ts: imports src/gateway/controller/c.ts, but gateway/agent may import only gateway/protocol',
    'packages/causeway/src/gateway/controller/ports/a.ts: imports src/gateway/controller/fleet/f.ts, but gateway/controller/ports may import only services, gateway/protocol, gateway/controller/reasons',
    'packages/causeway/src/gateway/controller/reasons/a.ts: imports src/gateway/controller/c.ts, but gateway/controller/reasons may import only gateway/protocol',
    'packages/causeway/src/helpers/a.ts: its folder is not in the table of layers',
    'packages/causeway/src/octavia/a.ts: imports src/gateway/controller/g.ts, but octavia may import only services',
  ]);
});

test('names imports of the type of a Service in the providers of frontends', async () => {
  const from = "from '@causeway/kubernetes/objects/core-objects';";
  const files = {
    'causeway/package.json':
      '{ "name": "@causeway/causeway", "dependencies": { "@causeway/kubernetes": "0" } }',
    'kubernetes/package.json': '{ "name": "@causeway/kubernetes" }',
    'causeway/src/gateway/controller/a.ts': `import type { Node, Service } ${from}`,
    'causeway/src/gateway/controller/b.ts': `import type { Node } ${from}`,
    'causeway/src/gateway/controller/a.test.ts': `import type { Service } ${from}`,
    'causeway/src/octavia/a.ts': `import {\n  type ServicePort as Port,\n} ${from}`,
    'causeway/src/pool/a.ts': `import type { Service } ${from}`,
  };
  expect(await write(files)).toEqual([
    'packages/causeway/src/gateway/controller/a.ts: imports the type Service; take a FrontendSpec instead',
    'packages/causeway/src/octavia/a.ts: imports the type ServicePort; take a FrontendSpec instead',
  ]);
});

test('names imports of a hidden folder that do not come from the folder above', async () => {
  const announce = 'causeway/src/gateway/agent/announce';
  const files = {
    [`${announce}/kinds.ts`]: "import { k } from './keepalived/kind.ts';",
    [`${announce}/keepalived/kind.ts`]: "import { s } from './settings.ts';",
    'causeway/src/gateway/agent/a.ts': "import { k } from './announce/keepalived/kind.ts';",
    'causeway/src/cli/agent/run.ts':
      "import { s } from '../../gateway/agent/announce/keepalived/settings.ts';",
  };
  const [hidden, above] = ['gateway/agent/announce/keepalived', 'gateway/agent/announce'];
  expect(await write(files)).toEqual([
    `packages/causeway/src/cli/agent/run.ts: imports src/${hidden}/settings.ts, but only ${above} may import ${hidden}`,
    `packages/causeway/src/gateway/agent/a.ts: imports src/${hidden}/kind.ts, but only ${above} may import ${hidden}`,
  ]);
});

test('the packages have no import that crosses a border', async () => {
  expect(
    await findLayerViolations(path.join(path.dirname(import.meta.dirname), 'packages')),
  ).toEqual([]);
});
