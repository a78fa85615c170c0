import { interruptionMatrix, type Line } from './matrix.ts';
import { scenarios, type ScenarioName } from './static-scenarios.ts';

const records = /configmaps kube-system(\/causeway-gateway-addresses)?$/;
const all = /./;

/** The same operations with addresses of a list, which are recorded in a ConfigMap. */
const lines: readonly Line<ScenarioName>[] = [
  {
    says: 'an address is recorded: the record is deleted, or the Service gets it',
    calls: { 'a Service is mapped to a new port': records },
  },
  {
    says: 'the record of an address is deleted: the next controller deletes it',
    calls: { 'a Service is deleted, and its port with it': records },
  },
  {
    says: 'a gateway that an operator confirms as off: the address stays in quarantine, then its record is deleted',
    calls: { 'a gateway is off permanently, and an operator confirms it': all },
  },
  {
    says: 'everything else recovers like with Neutron',
    calls: {
      'a Service is mapped to a new port': all,
      'a Service is mapped to an existing port': all,
      'a Service changes its ports and stays': all,
      'a Service changes its ports and has to move': all,
      'a Service is deleted, and its port with it': all,
      'a Service is deleted, and another stays on its port': all,
      'a managed Service can no longer be managed': all,
      'a gateway rejects a Service': all,
      'a controller starts and nothing is to do': all,
      'a controller starts after Services were created and deleted': all,
      "a controller starts after a user copied another Service's annotations": all,
    },
  },
];

interruptionMatrix(scenarios, lines);
