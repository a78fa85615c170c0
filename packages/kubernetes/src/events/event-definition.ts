/**
 * An Event that a component records. A folder declares its Events as data beside the code that records
 * them; the reference page is generated from the declarations.
 */
export interface EventDefinition<Reason extends string = string> {
  /** One word in CamelCase that programs can match: `AddressTaken`. */
  readonly reason: Reason;
  readonly type: 'Normal' | 'Warning';
  /** One or two sentences for the user who owns the object. */
  readonly meaning: string;
  /** What the reader can do. */
  readonly remedy: string;
}

export function defineEvent<Reason extends string>(
  definition: EventDefinition<Reason>,
): EventDefinition<Reason> {
  return definition;
}

/**
 * The reasons that have a definition. A file with definitions adds its own by declaration merging, so
 * that the compiler refuses an Event without a definition anywhere on its way to the recorder.
 */
export interface DefinedEvents {}

export type EventReason = keyof DefinedEvents;
