import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runDiscoverySchedule } from './discovery-schedule.ts';

test('each load balancer is shown exactly once while load balancers change and discoverers are killed', () =>
  searchSchedules('discovery', 250, runDiscoverySchedule));
