import type { KeepalivedAlarm } from './keepalived/alarms.ts';

/**
 * Alarms of the announcers:
 * - `two-active`: another gateway is active while this one is
 * - `duplicate-address`: another machine uses an address that this gateway holds
 */
export type AnnouncerAlarm = 'two-active' | 'duplicate-address' | KeepalivedAlarm;
