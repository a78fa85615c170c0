import type { KubeObject } from '../../object.ts';
import type { Condition } from '../workload-type.ts';

export interface CrdNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface CrdColumn {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  schema?: { openAPIV3Schema?: unknown };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    names: CrdNames;
    scope: string;
    versions?: CrdVersion[];
    conversion?: { strategy: string; webhook?: object };
    preserveUnknownFields?: boolean;
  };
  status?: {
    acceptedNames?: Partial<CrdNames>;
    conditions?: Condition[];
    storedVersions?: string[];
  };
}

/** The resource name of CustomResourceDefinitions in the store. */
export const definitionsResource = 'customresourcedefinitions.apiextensions.k8s.io';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export function hasCrdCondition({ status }: CustomResourceDefinition, wanted: string): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === wanted && condition.status === 'True',
  );
}
