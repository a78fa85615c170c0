import { describe, expect, it } from 'vitest';
import { chosenKinds } from './cloud-choice.ts';

describe('the clouds that tests run on', () => {
  it.each([
    [{}, ['embedded', 'real']],
    [{ CAUSEWAY_CLOUD: 'embedded' }, ['embedded']],
    [{ CAUSEWAY_CLOUD: 'real' }, ['real']],
    [{ CI: 'true' }, ['embedded', 'real']],
    [{ CI: 'true', CAUSEWAY_CLOUD: 'embedded' }, ['embedded', 'real']],
  ])('with %j', (environment, expected) => {
    expect(chosenKinds(environment)).toEqual(expected);
  });

  it.each(['', 'the', 'east'])('are not chosen by "%s"', (value) => {
    expect(() => chosenKinds({ CAUSEWAY_CLOUD: value })).toThrow('CAUSEWAY_CLOUD');
    expect(() => chosenKinds({ CAUSEWAY_CLOUD: value, CI: 'true' })).toThrow('CAUSEWAY_CLOUD');
  });
});
