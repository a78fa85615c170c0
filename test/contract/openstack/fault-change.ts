import type { CallOptions } from '../../../packages/openstack/src/call.ts';
import type { Stage } from './fault-stage.ts';

/** A change or a delete: made on something, and what can be seen of it afterwards. */
export interface Change {
  readonly service: 'network' | 'loadBalancer';
  readonly method: 'PUT' | 'DELETE';
  readonly prepare: (stage: Stage, name: string) => Promise<string>;
  readonly write: (stage: Stage, id: string, call: CallOptions) => Promise<unknown>;
  readonly seen: (stage: Stage, id: string) => Promise<unknown>;
  readonly expected: unknown;
}

/** What a read says about an object that should not be there any more. */
export const gone = async (object: Promise<unknown>) => {
  try {
    await object;
    return 'there';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
