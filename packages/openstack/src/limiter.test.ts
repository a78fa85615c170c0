import { describe, expect, it } from 'vitest';
import { Limiter } from './limiter.ts';

describe('Limiter', () => {
  it('runs up to the limit at once, in order of arrival', async () => {
    const limiter = new Limiter(2);
    const { signal } = new AbortController();
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const all = [0, 1, 2, 3].map((index) =>
      limiter.run(signal, () => {
        started.push(index);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    ends[0]?.();
    await all[0];
    await Promise.resolve();
    expect(started).toEqual([0, 1, 2]);
    ends[1]?.();
    await all[1];
    await Promise.resolve();
    expect(started).toEqual([0, 1, 2, 3]);
    ends[2]?.();
    ends[3]?.();
    await Promise.all(all);
  });

  it('drops callers that gave up waiting, and frees the slot of failed work', async () => {
    const limiter = new Limiter(1);
    const patient = new AbortController();
    const impatient = new AbortController();
    let fail: (() => void) | undefined;
    const first = limiter.run(
      patient.signal,
      () => new Promise<void>((_, reject) => (fail = () => reject(new Error('no')))),
    );
    const second = limiter.run(impatient.signal, () => Promise.resolve('second'));
    const third = limiter.run(patient.signal, () => Promise.resolve('third'));
    impatient.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    fail?.();
    await expect(first).rejects.toThrow('no');
    await expect(third).resolves.toBe('third');
    await expect(limiter.run(impatient.signal, () => Promise.resolve())).rejects.toMatchObject({
      code: 'aborted',
    });
  });
});
