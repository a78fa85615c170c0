import { agentPush, agentState } from './agent-samples.ts';
import { clusterObjects, names, serviceAnnotations } from './cluster-samples.ts';
import { customResources } from './custom-resource-samples.ts';
import { etcdLedger, sqliteLedger } from './ledger-samples.ts';
import type { SampleKind } from './sample-kind.ts';

/** Every form of state that outlives a release. */
export const sampleKinds: readonly SampleKind[] = [
  ...[serviceAnnotations, clusterObjects, names, agentState, agentPush],
  ...[customResources, sqliteLedger, etcdLedger],
];
