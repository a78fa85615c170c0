import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runLeadersSchedule } from './leaders-schedule.ts';

test("a suspended leader can't know that it lost its lease: its writes are soon undone", () =>
  searchSchedules('gateway/leaders', 120, runLeadersSchedule));
