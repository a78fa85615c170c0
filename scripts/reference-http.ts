/** A request that a job answers, for the reference of HTTP APIs. */
export interface HttpRequest {
  readonly client: string;
  readonly meaning: string;
}

const withToken = (meaning: string): HttpRequest => ({ client: 'clients with a token', meaning });
const anyClient = (meaning: string): HttpRequest => ({ client: 'any client', meaning });
const visitors = (meaning: string): HttpRequest => ({ client: 'browsers with the token', meaning });

/**
 * The agent's API on a gateway. `npm run docs` compares these tables with the sources, in both directions.
 */
export const agentRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /v2/status': withToken('state of the gateway and its frontends'),
  'GET /v2/events': withToken('the status now and after every change, a line of JSON each'),
  'GET /v2/counters': withToken('number of connections of each endpoint'),
  'POST /v2/push': withToken('accepts a full or delta update, as lines of JSON, all or nothing'),
  'POST /v2/removals': withToken(
    'confirms withheld removals that the controller has verified, exactly those that it names',
  ),
  'POST /v2/pins': withToken('accepts the pins of connections on another gateway'),
  'POST /v2/pins/collect': withToken('the changes of the pins of this gateway since a cursor'),
  'POST /v2/pins/prepare': withToken('pins the connections that an update would move'),
  'POST /v2/unhealthy': withToken('accepts the unhealthy backends, merged from all gateways'),
  'POST /v2/relief': withToken('accepts whether another gateway can serve in place of this one'),
  'POST /v2/overrides': withToken('drains, freezes, and ends both'),
  'POST /v2/undo': withToken('restores the state before the last change'),
  'POST /v2/trace': withToken('the path that a connection would take'),
  'POST /v1/apply': {
    client: 'ch-k8s-lbaas’s controller',
    meaning: 'accepts its configuration; the body is a token',
  },
  'GET /metrics': anyClient('metrics for Prometheus'),
};

export const dashboardRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /api/rows': visitors('server-sent events: all rows, then changes'),
  'GET /api/path': visitors('the path of a connection to `?service=namespace/name`'),
};

export const observeRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /healthz': anyClient(
    '200 while the process is alive; of the proxy: while it writes rules in time',
  ),
  'GET /livez': anyClient('200 while the process is alive'),
  'GET /readyz': anyClient('200 while it works, otherwise 503 with the reason'),
  'GET /metrics': anyClient('metrics for Prometheus'),
};
