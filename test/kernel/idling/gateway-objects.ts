import { deployment } from '../../contract/kubernetes-api/scenarios/scenario.ts';
import { graceSeconds, podPort } from './gateway-lab.ts';

/** With two ports: the pod answers at once on one, and after a request on the other. */
export const webService = (name: string, spec: object, annotations: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, annotations },
  spec: {
    type: 'LoadBalancer',
    selector: { app: name },
    ports: [
      { name: 'at-once', port: 80, targetPort: podPort },
      { name: 'later', port: 81, targetPort: podPort + 1 },
    ],
    ...spec,
  },
});

/** One pod, on the second node: connections that wait on the first one have to go there. */
export const webDeployment = (name: string) =>
  deployment(name, {
    replicas: 1,
    template: {
      metadata: { labels: { app: name } },
      spec: {
        nodeName: 'n2',
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: 'main', image: 'example/web:1' }],
      },
    },
  });
