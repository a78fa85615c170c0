import { test } from 'vitest';
import { searchSchedules } from '../schedules.ts';
import { playDeletion } from './deletion-schedule.ts';

test('a Service that is deleted while gateways time out, answers get lost and the leader changes is gone in the end', () =>
  searchSchedules('gateway/deletion', 80, playDeletion));
