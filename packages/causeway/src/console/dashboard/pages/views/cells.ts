import { element } from '../element.ts';

/** A word with a color and a symbol, so that it is readable without colors too. */
export function badge(text: string, mood: 'good' | 'waiting' | 'bad' | 'quiet'): HTMLElement {
  const marks = { good: '●', waiting: '◐', bad: '▲', quiet: '○' };
  return element(
    'span',
    { class: `badge ${mood}` },
    element('span', { 'aria-hidden': 'true' }, marks[mood]),
    ` ${text}`,
  );
}

export function cell(name: string, ...content: readonly (Node | string)[]): HTMLElement {
  return element('span', { class: `cell ${name}` }, ...content);
}
