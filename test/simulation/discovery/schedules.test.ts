import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playDiscovery } from './discovery-schedule.ts';

test('load balancers come and go while discoverers die: each is shown once, and no other', () =>
  searchSchedules('discovery', 250, playDiscovery));
