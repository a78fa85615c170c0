/** `forged-adverts`: VRRP adverts arrive that no peer sent, and are dropped. */
export type KeepalivedAlarm = 'forged-adverts';
