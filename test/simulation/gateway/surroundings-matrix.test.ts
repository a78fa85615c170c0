import { interruptionMatrix, type Line } from './matrix.ts';
import { scenarios, type ScenarioName } from './surrounding-scenarios.ts';

const all = /./;

/** Cases that the design does not mention. */
const lines: readonly Line<ScenarioName>[] = [
  {
    says: 'address pairs are added and removed: the next controller finds them and continues',
    calls: {
      'one address is deleted and another created, with a pair for each on every gateway': all,
    },
  },
  {
    says: 'a fence around a gateway that does not answer: it is unfenced when it has acknowledged the newest state',
    calls: { 'a gateway does not answer, is fenced, and comes back': all },
  },
  {
    says: 'a fence that an operator requests: it is applied, and the ConfigMap shows it',
    calls: { 'an operator fences a gateway and unfences it': all },
  },
  {
    says: 'health: the next controller collects and sends it again',
    calls: { 'a gateway reports an unhealthy backend, and all gateways exclude it': all },
  },
  {
    says: 'the leader: the standby controller gets the lease and finishes the operation',
    calls: { 'the leading controller is killed during the operation, and another one waits': all },
  },
  {
    says: 'the migration from ch-k8s-lbaas: nothing is marked before the finalizer, no address changes',
    calls: {
      'a Service of ch-k8s-lbaas is adopted, and can be handed back': all,
      'a Service of ch-k8s-lbaas is adopted permanently': all,
    },
  },
];

interruptionMatrix(scenarios, lines);
