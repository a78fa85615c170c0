import type { FaultEffect } from '../faults.ts';
import type { Answer } from './call.ts';

/**
 * Handles a request under these faults. The faults decide whether it takes effect and which answer it gets.
 */
export function answerUnder(
  effects: readonly FaultEffect[],
  handle: () => Answer,
): Answer | 'dropped' {
  if (drops(effects, 'before-commit')) return 'dropped';
  const answer = forcedAnswer(effects) ?? handle();
  if (drops(effects, 'after-commit')) return 'dropped';
  const lie = effects.find((effect) => effect.kind === 'lie');
  return lie === undefined ? answer : { ...answer, status: lie.status };
}

function drops(effects: readonly FaultEffect[], when: 'before-commit' | 'after-commit'): boolean {
  return effects.some((effect) => effect.kind === 'drop' && effect.when === when);
}

function forcedAnswer(effects: readonly FaultEffect[]): Answer | undefined {
  for (const effect of effects) {
    if (effect.kind !== 'answer') continue;
    const { status, retryAfterSeconds, text } = effect;
    return {
      status,
      headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
      ...(text === undefined
        ? { body: { error: { code: status, message: 'a fault was injected', title: 'Fault' } } }
        : { text: { type: 'text/html; charset=UTF-8', content: text } }),
    };
  }
  return undefined;
}
