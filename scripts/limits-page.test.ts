import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { textLimits } from '../packages/base/src/text/text-limit.ts';
import { serviceBudget } from '../packages/kubernetes/src/objects/service-budget.ts';

const root = path.dirname(import.meta.dirname);
const page = fs.readFileSync(path.join(root, 'docs', 'limits.md'), 'utf8');

test.each<[string, number]>([
  ['ports', serviceBudget.ports],
  ['source ranges (`spec.loadBalancerSourceRanges`)', serviceBudget.sourceRanges],
  ['ports × source ranges', serviceBudget.portsTimesRanges],
  ['external IPs (`spec.externalIPs`)', serviceBudget.externalIps],
  ['ports × addresses', serviceBudget.portsTimesAddresses],
  ['endpoints × ports × addresses, in each address family', serviceBudget.endpointsTimesAddresses],
  ['an annotation that a user writes', textLimits.value],
  ['an annotation that Causeway or another controller writes as JSON', textLimits.record],
  ['`spec.loadBalancerIP`', textLimits.value],
  ['one source range', textLimits.range],
  ['a duration, such as `causeway.dev/idle-after`', textLimits.duration],
])('the page has the limit of the code for %s', (what, most) => {
  expect(page).toContain(`\n| ${what} | ${most.toLocaleString('en')} |\n`);
});
