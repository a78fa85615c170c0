import type http from 'node:http';
import type https from 'node:https';

export interface RequestLimits {
  /** How long the headers of a request may take to arrive. */
  readonly headersMs: number;
  /** How long all of a request may take to arrive; its answer may take longer. */
  readonly requestMs: number;
  /** How many connections may be open at once; more are closed as they come. */
  readonly connections: number;
}

/**
 * Keeps whoever sends slowly, or opens connections and says nothing, from holding a server for long. Every
 * server of ours has such limits.
 */
export function limitRequests(server: http.Server | https.Server, limits: RequestLimits): void {
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.maxConnections = limits.connections;
}
