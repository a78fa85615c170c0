import fs from 'node:fs/promises';
import path from 'node:path';
import { AnnouncedAddresses } from '../../packages/causeway/src/gateway/agent/announce/keepalived/announced-addresses.ts';
import { Overrides } from '../../packages/causeway/src/gateway/agent/overrides.ts';
import {
  frontendKey,
  makeFrontend,
} from '../../packages/causeway/src/gateway/protocol/frontend.ts';
import { policyKey } from '../../packages/causeway/src/gateway/protocol/policy.ts';
import { renameLegacyFiles } from '../../packages/causeway/src/gateway/agent/store/legacy.ts';
import { inverseOf, type Change } from '../../packages/causeway/src/gateway/agent/store/state.ts';
import { readKnownAnswers } from '../../packages/causeway/src/gateway/agent/probe/probe-results-file.ts';
import { StateStore } from '../../packages/causeway/src/gateway/agent/store/state-store.ts';
import { UpdateReader } from '../../packages/causeway/src/gateway/protocol/update.ts';
import {
  parseFrontend,
  parsePolicy,
} from '../../packages/causeway/src/gateway/protocol/records.ts';
import {
  writeDelta,
  writeState,
} from '../../packages/causeway/src/gateway/protocol/write-update.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { parseAddress } from '../../packages/base/src/address/address.ts';
import { plain, sampleTime, type SampleKind } from './sample-kind.ts';

const pods = parseFrontend({
  address: '192.0.2.1',
  protocol: 'TCP',
  port: 80,
  service: 'shop/web',
  affinity: 'client',
  destinations: [{ address: '10.0.0.1', port: 8080, weight: 3 }],
  sourceRanges: ['198.51.100.0/24'],
  masquerade: 'always',
});
const nodePort = parseFrontend({
  address: '2001:db8::1',
  protocol: 'UDP',
  port: 53,
  nodePort: 30053,
});
const routed = parseFrontend({
  address: '192.0.2.2',
  protocol: 'TCP',
  port: 443,
  routedTo: 'nodes',
});
const policy = parsePolicy({
  namespace: 'shop',
  name: 'web',
  ingress: [
    {
      from: [{ cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }],
      ports: [
        { protocol: 'TCP', port: 'http' },
        { protocol: 'TCP', port: 80, endPort: 90 },
      ],
    },
  ],
});
const pod = parseAddress('10.0.0.1');
const node = { address: parseAddress('10.1.0.1') };
const assignment = {
  address: pod,
  policies: [policyKey(policy)],
  namedPorts: [{ name: 'http', protocol: 'TCP' as const, port: pods.port }],
};

const first: Change = {
  generation: 1_700_000_000_001,
  digest: 'v2 state abc',
  frontends: new Map([pods, nodePort, routed].map((each) => [frontendKey(each), each])),
  policies: new Map([[policyKey(policy), policy]]),
  assignments: new Map([[pod, assignment]]),
  nodes: new Map([[node.address, node]]),
  kept: new Map([[frontendKey(routed), { generation: 5, reason: 'is not an address' }]]),
};
const second: Change = {
  generation: 1_700_000_000_002,
  digest: 'v1 1700000000 abc',
  frontends: new Map([
    [frontendKey(nodePort), undefined],
    [frontendKey(pods), makeFrontend({ ...pods, destinations: [] })],
  ]),
  policies: new Map(),
  assignments: new Map([[pod, undefined]]),
  nodes: new Map(),
  kept: new Map(),
};

/** State that an agent finds in its directories when it starts. */
export const agentState: SampleKind = {
  name: 'agent-state',

  async write(directory) {
    const { store, stored } = await StateStore.open(directory);
    await store.append({ change: first, undo: undefined, undoes: 0 });
    stored.holder.commit(first);
    const undo = inverseOf(stored.holder.current, second, first.generation);
    await store.append({ change: second, undo, undoes: 0 });
    await store.close();
    const overrides = await Overrides.load(path.join(directory, 'overrides.json'));
    await overrides.set('frozen', { since: sampleTime, reason: 'new disks' });
    const answers = { answered: ['10.0.0.1'], unhealthy: ['10.1.0.9'] };
    await fs.writeFile(path.join(directory, 'answers.json'), JSON.stringify(answers));
    const announced = await AnnouncedAddresses.load(
      path.join(directory, 'announced.json'),
      discardLog,
    );
    await announced.add(new Set([pods.address, nodePort.address]));
  },

  async read(directory) {
    await renameLegacyFiles(directory);
    const { store, stored } = await StateStore.open(directory);
    // It continues from there: it can write again what it reads.
    await store.compact(stored.holder.current, stored.undo);
    await store.close();
    const again = await StateStore.open(directory);
    await again.store.close();
    const overrides = await Overrides.load(path.join(directory, 'overrides.json'));
    const announced = await AnnouncedAddresses.load(
      path.join(directory, 'announced.json'),
      discardLog,
    );
    return plain({
      state: again.stored.holder.current,
      undo: again.stored.undo,
      overrides: { frozen: overrides.get('frozen'), drained: overrides.get('drained') },
      answers: await readKnownAnswers(path.join(directory, 'answers.json'), discardLog),
      announced: announced.all,
    });
  },
};

/**
 * What a controller sends to an agent of the next version, and what an agent gets from the previous version.
 */
export const agentPush: SampleKind = {
  name: 'agent-push',

  async write(directory) {
    const whole = { frontends: [pods, nodePort], policies: [policy], assignments: [assignment] };
    for (const revision of [1, 2, 3]) {
      const state = writeState({ ...whole, nodes: [node] }, { generation: 7, revision });
      await fs.writeFile(path.join(directory, `state-${revision}.jsonl`), [...state].join(''));
      const change = {
        frontends: [routed],
        policies: [],
        assignments: [],
        nodes: [],
        removedFrontends: [nodePort],
        removedPolicies: [policy],
        removedNodes: [node.address],
        removedAssignments: [pod],
      };
      const delta = writeDelta(change, { generation: 8, base: 7, revision });
      await fs.writeFile(path.join(directory, `delta-${revision}.jsonl`), [...delta].join(''));
    }
  },

  async read(directory) {
    const pushes: Record<string, unknown> = {};
    for (const name of (await fs.readdir(directory)).sort()) {
      if (!name.endsWith('.jsonl')) continue;
      const reader = new UpdateReader();
      const text = await fs.readFile(path.join(directory, name), 'utf8');
      for (const line of text.split('\n').filter(Boolean)) reader.line(line);
      pushes[name] = plain(reader.result());
    }
    return pushes;
  },
};
