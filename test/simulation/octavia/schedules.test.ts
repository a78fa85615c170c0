import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runOctaviaSchedule } from './octavia-schedule.ts';

test('a Service has one load balancer, and none is left, while it changes and controllers are killed', () =>
  searchSchedules('octavia', 600, runOctaviaSchedule));
