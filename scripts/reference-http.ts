/** A request that a job answers, for the reference of HTTP APIs. */
export interface HttpRequest {
  readonly who: string;
  readonly meaning: string;
}

const withToken = (meaning: string): HttpRequest => ({ who: 'bearers of a token', meaning });
const everybody = (meaning: string): HttpRequest => ({ who: 'everybody', meaning });
const visitors = (meaning: string): HttpRequest => ({ who: 'visitors with the token', meaning });

/** The agent's API on a gateway. `npm run docs` compares these tables with the sources, both ways. */
export const agentRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /v2/status': withToken('how the gateway is and what it serves'),
  'GET /v2/events': withToken('the status now and after every change, a line of JSON each'),
  'GET /v2/counters': withToken('how many connections each endpoint has had'),
  'POST /v2/push': withToken(
    'takes a whole configuration or a change of one, as lines of JSON, all or nothing',
  ),
  'POST /v2/removals': withToken(
    'confirms withheld removals that the controller has verified, exactly those that it names',
  ),
  'POST /v2/unhealthy': withToken('takes who does not answer, as all gateways together see it'),
  'POST /v2/overrides': withToken('drains, freezes, and takes it back'),
  'POST /v2/undo': withToken('goes back to what was served before the last change'),
  'POST /v2/trace': withToken('what would become of a connection'),
  'POST /v1/apply': {
    who: 'ch-k8s-lbaas’s controller',
    meaning: 'takes its configuration; the body is a token',
  },
  'GET /metrics': everybody('metrics for Prometheus'),
};

export const dashboardRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /api/rows': visitors('server-sent events: all rows, then what changes'),
  'GET /api/path': visitors('the way of a connection to `?service=namespace/name`'),
};

export const observeRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /healthz': everybody(
    '200 while the process is alive; the proxy’s: while it writes rules in time',
  ),
  'GET /livez': everybody('200 while the process is alive'),
  'GET /readyz': everybody('200 once it does its work, else 503 with what is missing'),
  'GET /metrics': everybody('metrics for Prometheus'),
};
