import { interruptionMatrix, type Line } from './matrix.ts';
import { scenarios, type ScenarioName } from './surrounding-scenarios.ts';

const all = /./;

/** What the design does not speak of. */
const lines: readonly Line<ScenarioName>[] = [
  {
    says: 'address pairs are opened and shut: the next controller finds them as they are and goes on',
    calls: { 'one address goes and another comes, with a pair for each on every gateway': all },
  },
  {
    says: 'a fence around a gateway that does not answer: it is let in when it has confirmed the newest state',
    calls: { 'a gateway does not answer, is fenced, and comes back': all },
  },
  {
    says: 'a fence that an operator asks for, and the board: what is asked for is done, what is shown follows',
    calls: { 'an operator fences a gateway and lets it in again': all },
  },
  {
    says: 'health: the next controller gathers and hands it out again',
    calls: { 'a gateway sees somebody silent, and all are told': all },
  },
  {
    says: 'the leader: the one that waits takes the lease over and finishes what was begun',
    calls: { 'the controller that leads dies in the middle, and another one waits': all },
  },
  {
    says: 'the take-over from ch-k8s-lbaas: nothing is marked before the finalizer, no address changes',
    calls: {
      'a Service of ch-k8s-lbaas is taken over, and the way back stays open': all,
      'a Service of ch-k8s-lbaas is taken over for good': all,
    },
  },
];

interruptionMatrix(scenarios, lines);
