import type { L2Port } from './port-slot.ts';

/** The port of a Service, or why it gets none. */
export type Reservation =
  | { readonly kind: 'port'; readonly port: L2Port }
  | {
      readonly kind: 'refused';
      readonly reason: 'taken' | 'other-sharing-group';
      readonly by: string;
    }
  | { readonly kind: 'leaving' };
