import { interruptionMatrix, type Line } from './matrix.ts';
import { scenarios, type ScenarioName } from './surrounding-scenarios.ts';

const all = /./;

/** Cases that the design does not mention. */
const lines: readonly Line<ScenarioName>[] = [
  {
    says: 'address pairs are opened and shut: the next controller finds them as they are and goes on',
    calls: {
      'one address is deleted and another created, with a pair for each on every gateway': all,
    },
  },
  {
    says: 'a fence around a gateway that does not answer: it is let in when it has confirmed the newest state',
    calls: { 'a gateway does not answer, is fenced, and comes back': all },
  },
  {
    says: 'a fence that an operator asks for, and the board: what is asked for is done, what is shown follows',
    calls: { 'an operator fences a gateway and unfences it': all },
  },
  {
    says: 'health: the next controller gathers and hands it out again',
    calls: { 'a gateway reports an unhealthy backend, and all gateways exclude it': all },
  },
  {
    says: 'the leader: the one that waits takes the lease over and finishes what was begun',
    calls: { 'the leading controller is killed during the operation, and another one waits': all },
  },
  {
    says: 'the take-over from ch-k8s-lbaas: nothing is marked before the finalizer, no address changes',
    calls: {
      'a Service of ch-k8s-lbaas is adopted, and can be handed back': all,
      'a Service of ch-k8s-lbaas is adopted permanently': all,
    },
  },
];

interruptionMatrix(scenarios, lines);
