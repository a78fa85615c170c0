import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runPoolSchedule } from './pool-schedule.ts';

test('Services wait for one address and never share it while controllers are killed', () =>
  searchSchedules('pool', 250, runPoolSchedule));
