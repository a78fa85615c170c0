import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { describeContract } from './contract.ts';
import { startEmbeddedServer, startRealServer } from './server-under-test.ts';

describeContract('the embedded API', true, () => startEmbeddedServer());
describeContract('a real kube-apiserver', await isAvailable(prepareKubernetes), () =>
  startRealServer(),
);
