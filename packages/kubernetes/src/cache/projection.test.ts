import { describe, expect, it } from 'vitest';
import type { Service } from '../objects/core-objects.ts';
import { project, slimMetadata, withSlimMetadata } from './projection.ts';

const service: Service = {
  metadata: {
    namespace: 'default',
    name: 'web',
    uid: 'u',
    resourceVersion: '7',
    labels: { app: 'web' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' },
    managedFields: [{ manager: 'kubectl' }],
  },
  spec: { clusterIP: '10.0.0.1' },
};

describe('withSlimMetadata', () => {
  it('drops metadata that Causeway does not read, and does not change the original', () => {
    const before = structuredClone(service);
    expect(withSlimMetadata(service)).toEqual({
      metadata: {
        namespace: 'default',
        name: 'web',
        uid: 'u',
        resourceVersion: '7',
        labels: { app: 'web' },
        annotations: { kept: 'yes' },
      },
      spec: { clusterIP: '10.0.0.1' },
    });
    expect(service).toEqual(before);
  });

  it('accepts metadata with nothing to drop', () => {
    expect(slimMetadata(undefined)).toEqual({});
    expect(slimMetadata({ name: 'a', annotations: { b: 'c' } })).toEqual({
      name: 'a',
      annotations: { b: 'c' },
    });
  });
});

describe('project', () => {
  it('rejects a projection that loses the identity of the object', () => {
    const lossy = ({ metadata }: Service): Service => ({
      metadata: { name: metadata?.name ?? '' },
    });
    expect(() => project(lossy, service)).toThrow('changed its identity');
    expect(project(withSlimMetadata<Service>, service).metadata?.uid).toBe('u');
  });
});
