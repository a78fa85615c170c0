import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playLeaders } from './leaders-schedule.ts';

test('a leader whose machine was suspended can not know: what it did meanwhile is soon undone', () =>
  searchSchedules('gateway/leaders', 120, playLeaders));
