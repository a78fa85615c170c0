import type { Step } from '../transcript.ts';

/** A name, and the requests in order. Each scenario has its own namespace. */
export interface Scenario {
  readonly name: string;
  readonly steps: (namespace: string) => readonly Step[];
}

/** The media type of a patch: `json`, `merge` or `strategic-merge`. */
export const patch = (type: string) => `application/${type}-patch+json`;

export const apply = 'application/apply-patch+yaml';

export const service = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...metadata },
  spec,
});

/** A minimal Service. */
export const web = { selector: { app: 'web' }, ports: [{ port: 80 }] };

export const deployment = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
    },
    ...spec,
  },
});

export const configMap = (name: string, data: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

export const core = (namespace: string, rest: string) => `/api/v1/namespaces/${namespace}/${rest}`;

export const apps = (namespace: string, rest: string) =>
  `/apis/apps/v1/namespaces/${namespace}/${rest}`;
