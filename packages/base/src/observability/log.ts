/**
 * The logging interface. `createLog` implements it with pino; tests discard the output. Fields come first, so
 * that no message is concatenated from values.
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
