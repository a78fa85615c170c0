import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runIdlingSchedule } from './idling-schedule.ts';

test('a Service without pods always has its mark while idling and waking run at once and are killed', () =>
  searchSchedules('idling', 8_000, runIdlingSchedule));
