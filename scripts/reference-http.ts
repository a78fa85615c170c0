/** A request that a job answers, for the reference of HTTP APIs. */
export interface HttpRequest {
  readonly who: string;
  readonly meaning: string;
}

/** The agent's API on a gateway. A test compares it with the sources, both ways. */
export const agentRequests: Readonly<Record<string, HttpRequest>> = {
  'GET /v2/status': { who: 'token', meaning: 'how the gateway is and what it serves' },
  'GET /v2/events': {
    who: 'token',
    meaning: 'the status now and after every change, a line of JSON each',
  },
  'GET /v2/counters': { who: 'token', meaning: 'how many connections each endpoint has had' },
  'POST /v2/push': {
    who: 'token',
    meaning: 'a whole configuration or a change of one, as lines of JSON; all or nothing',
  },
  'POST /v2/silent': {
    who: 'token',
    meaning: 'who does not answer, as all gateways together see it',
  },
  'POST /v2/levers': { who: 'token', meaning: 'drain, freeze, and take it back' },
  'POST /v2/undo': { who: 'token', meaning: 'back to what was served before the last change' },
  'POST /v2/trace': { who: 'token', meaning: 'what would become of a connection' },
  'POST /v1/apply': { who: "ch-k8s-lbaas's token", meaning: "ch-k8s-lbaas's configuration" },
  'GET /metrics': { who: 'everybody', meaning: 'metrics of Prometheus' },
};
