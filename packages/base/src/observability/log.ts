/**
 * What the rest of the code knows of logging. `observe` implements it with pino; tests with nothing.
 * Fields come first so that no message is ever glued together from values.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

export const discardLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => discardLog,
};
