/** A Deployment in place of another product's controller. */
export function stubDeployment(namespace: string, name: string) {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'example.com/main' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

export const stubNamespace = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});
