import { describe, expect, it } from 'vitest';
import { endsInitialEvents, parseWatchEvent } from './watch-event.ts';

describe('parseWatchEvent', () => {
  it('throws an error inside the stream like an error answer', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    const line = JSON.stringify({ type: 'ERROR', object: status });
    expect(() => parseWatchEvent('watch services', line)).toThrow(
      expect.objectContaining({ code: 'gone', status: 410, message: 'watch services: too old' }),
    );
    expect(() => parseWatchEvent('watch services', '{"type":"ERROR"}')).toThrow(
      expect.objectContaining({ code: 'unavailable', status: 500 }),
    );
  });

  it.each(['{"type":"ADD', 'null', '[]', '{"type":"ADDED"}', '{"type":"OTHER","object":{}}'])(
    'rejects %s',
    (line) => expect(() => parseWatchEvent('watch services', line)).toThrow('a line of the watch'),
  );

  it('recognizes the bookmark that ends the initial events', () => {
    const bookmark = (annotations: object) =>
      parseWatchEvent(
        'x',
        JSON.stringify({ type: 'BOOKMARK', object: { metadata: { annotations } } }),
      );
    expect(endsInitialEvents(bookmark({ 'k8s.io/initial-events-end': 'true' }))).toBe(true);
    expect(endsInitialEvents(bookmark({}))).toBe(false);
  });
});
