import { describe, expect, it } from 'vitest';
import { ParkingLot } from './parking-lot.ts';

const bounds = {
  perService: { packets: 4, bytes: 400 },
  inAll: { packets: 6, bytes: 1_000 },
  perFlow: 2,
  holdMs: 1_000,
};
const stream = (flow: string) => ({ flow, isStream: true });
const datagram = (flow: string) => ({ flow, isStream: false });
const packet = (text: string, length = 60) => Buffer.alloc(length, text);
const texts = (packets: Buffer[]) => packets.map((each) => String.fromCharCode(each[0] ?? 0));

describe('ParkingLot', () => {
  it('keeps the newest packet of a stream and each datagram, oldest flow first', () => {
    const lot = new ParkingLot(bounds);
    expect(lot.park('web', stream('a'), packet('1'), 0)).toBe('parked');
    expect(lot.park('web', datagram('b'), packet('2'), 1)).toBe('parked');
    expect(lot.park('web', stream('a'), packet('3'), 2)).toBe('renewed');
    expect(lot.park('web', datagram('b'), packet('4'), 3)).toBe('parked');
    expect(lot.waiting('web')).toBe(2);
    expect([lot.packets, lot.bytes]).toEqual([3, 180]);
    expect(texts(lot.take('web'))).toEqual(['3', '2', '4']);
    expect([lot.packets, lot.bytes, lot.waiting('web')]).toEqual([0, 0, 0]);
  });

  it.each([
    ['datagrams of one flow', ['b', 'b', 'b'], 60, ['parked', 'parked', 'full']],
    [
      'packets of one Service',
      ['a', 'b', 'c', 'd', 'e'],
      60,
      ['parked', 'parked', 'parked', 'parked', 'full'],
    ],
    ['bytes of one Service', ['a', 'b', 'c'], 190, ['parked', 'parked', 'full']],
  ])('limits the %s', (_, flows, length, outcomes) => {
    const lot = new ParkingLot(bounds);
    expect(flows.map((flow) => lot.park('web', datagram(flow), packet('x', length), 0))).toEqual(
      outcomes,
    );
  });

  it('limits all Services together, and keeps room for other Services when one is full', () => {
    const lot = new ParkingLot(bounds);
    const park = (service: string, flow: string) => lot.park(service, stream(flow), packet('x'), 0);
    expect(['a', 'b', 'c', 'd', 'e'].map((flow) => park('flooded', flow)).at(-1)).toBe('full');
    expect([park('web', 'a'), park('web', 'b'), park('web', 'c')]).toEqual([
      'parked',
      'parked',
      'full',
    ]);
  });

  it('has room for one packet of each Service, however much the others use', () => {
    const lot = new ParkingLot({ ...bounds, inAll: { packets: 2, bytes: 120 } });
    const park = (service: string, flow: string) => lot.park(service, stream(flow), packet('x'), 0);
    expect([park('flooded', 'a'), park('flooded', 'b')]).toEqual(['parked', 'parked']);
    expect([park('web', 'a'), park('web', 'b')]).toEqual(['parked', 'full']);
    expect(park('flooded', 'c')).toBe('full');
    expect(lot.waiting('web')).toBe(1);
  });

  it('drops packets that waited too long since the first packet of their flow', () => {
    const lot = new ParkingLot(bounds);
    lot.park('web', stream('old'), packet('1'), 0);
    lot.park('web', stream('new'), packet('2'), 600);
    lot.park('web', stream('old'), packet('3'), 900);
    expect(lot.expire(999)).toBe(0);
    expect(lot.expire(1_000)).toBe(1);
    expect(texts(lot.take('web'))).toEqual(['2']);
    expect([lot.packets, lot.bytes]).toEqual([0, 0]);
  });
});
