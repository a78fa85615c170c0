import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playOctavia } from './octavia-schedule.ts';

test('a Service comes, changes and goes while controllers die: one load balancer, and none is left', () =>
  searchSchedules('octavia', 600, playOctavia));
