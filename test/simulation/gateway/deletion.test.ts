import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { runDeletionSchedule } from './deletion-schedule.ts';

test('deletes a Service completely while gateways time out, answers get lost and the leader changes', () =>
  searchSchedules('gateway/deletion', 80, runDeletionSchedule));
