import type { RowChanges } from '../../overview/rows.ts';
import type { RowsStore } from './rows-store.ts';

/** Keeps the store up to date from the server's stream; the browser reconnects automatically. */
export function connect(store: RowsStore, say: (text: string, isWell: boolean) => void): void {
  const stream = new EventSource('/api/rows');
  say('connecting', false);
  stream.addEventListener('open', () => {
    store.begin();
    say('loading', false);
  });
  stream.addEventListener('rows', (event: MessageEvent<string>) => {
    store.take(JSON.parse(event.data) as RowChanges);
  });
  stream.addEventListener('complete', () => {
    store.complete();
    say('live', true);
  });
  stream.addEventListener('error', () => {
    const isOver = stream.readyState === EventSource.CLOSED;
    say(
      isOver ? 'refused: open the dashboard with its token' : 'connection lost, trying again',
      false,
    );
  });
}
