import { expect, test } from 'vitest';
import { agentRequests, dashboardRequests, observeRequests } from './reference-http.ts';
import { wordsInSources } from './words-in-sources.ts';

const pathsOf = (requests: object) =>
  [...new Set(Object.keys(requests).map((name) => name.split(' ')[1] ?? ''))].sort();
const found = (folder: string, ...patterns: RegExp[]) =>
  [...wordsInSources(patterns, folder)].sort();

test('every request of the agent, the dashboard and health is in the reference, and no other', () => {
  const agent = found('agent/http/', /case '\w+ (\/[^']+)':/, /\.url === '(\/[^']+)'/);
  expect(pathsOf(agentRequests)).toEqual(agent);
  expect(pathsOf(dashboardRequests)).toEqual(found('dashboard/', /pathname === '(\/api\/[^']+)'/));
  expect(pathsOf(observeRequests)).toEqual(found('observe/', /case '(\/[a-z]+)'/));
});
