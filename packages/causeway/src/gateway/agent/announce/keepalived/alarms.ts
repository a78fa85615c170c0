/**
 * Alarms of the keepalived announcer:
 * - `forged-adverts`: VRRP adverts arrive that no peer sent, and are dropped
 * - `peers-unheard`: adverts of the active gateway arrive on one network or family, and none on another
 */
export type KeepalivedAlarm = 'forged-adverts' | 'peers-unheard';
