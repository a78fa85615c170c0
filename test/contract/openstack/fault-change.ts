import type { CallOptions } from '../../../packages/openstack/src/call.ts';
import type { Stage } from './fault-stage.ts';

/** A change or a deletion, with its visible result. */
export interface Change {
  readonly service: 'network' | 'loadBalancer';
  readonly method: 'PUT' | 'DELETE';
  readonly prepare: (stage: Stage, name: string) => Promise<string>;
  readonly write: (stage: Stage, id: string, call: CallOptions) => Promise<unknown>;
  readonly seen: (stage: Stage, id: string) => Promise<unknown>;
  readonly expected: unknown;
}

/** Result of reading a deleted object. */
export const gone = async (object: Promise<unknown>) => {
  try {
    await object;
    return 'there';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
