import { describe, expect, it } from 'vitest';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { chooseServices, type ServiceChoice } from './choose-services.ts';

const noClient = {} as KubeClient;
const signal = new AbortController().signal;
const choose = (choice: Partial<ServiceChoice>) =>
  chooseServices(noClient, { names: [], ...choice }, 'shop', signal);

describe('choosing Services', () => {
  it('by name, in the namespace or in another', async () => {
    expect(await choose({ names: ['web', 'other/api', 'svc/db'] })).toEqual([
      { namespace: 'shop', name: 'web' },
      { namespace: 'other', name: 'api' },
      { namespace: 'shop', name: 'db' },
    ]);
  });

  it('by the lines of a file', async () => {
    expect(await choose({ namesFile: '# tonight\nweb\n\n  other/api \n' })).toEqual([
      { namespace: 'shop', name: 'web' },
      { namespace: 'other', name: 'api' },
    ]);
  });

  it("all of them except the API server's own", async () => {
    async function* list() {
      await Promise.resolve();
      for (const [namespace, name] of [
        ['default', 'kubernetes'],
        ['default', 'web'],
        ['shop', 'kubernetes'],
      ]) {
        yield { metadata: { namespace, name } };
      }
    }
    const client = { list } as unknown as KubeClient;
    const choice = { names: [], all: true, allNamespaces: true };
    expect(await chooseServices(client, choice, 'default', signal)).toEqual([
      { namespace: 'default', name: 'web' },
      { namespace: 'shop', name: 'kubernetes' },
    ]);
  });

  it.each([
    ['no way', {}],
    ['two ways', { names: ['web'], all: true }],
  ])('rejects %s', async (_, choice) => {
    await expect(choose(choice)).rejects.toThrow('exactly one way');
  });

  it.each(['a/b/c', 'shop/', '/web'])('%s is not a name', async (name) => {
    await expect(choose({ names: [name] })).rejects.toThrow('not the name of a Service');
  });
});
