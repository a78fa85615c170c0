/** Result of a check. Each problem has a hint. */
export type Finding =
  | { readonly kind: 'fine'; readonly text: string }
  | { readonly kind: 'warning'; readonly text: string; readonly fix: string }
  | { readonly kind: 'problem'; readonly text: string; readonly fix: string }
  | { readonly kind: 'skipped'; readonly text: string };

export interface Check {
  readonly name: string;
  run(signal: AbortSignal): Promise<Finding>;
}

export const fine = (text: string): Finding => ({ kind: 'fine', text });
export const skipped = (text: string): Finding => ({ kind: 'skipped', text });
export const warning = (text: string, fix: string): Finding => ({ kind: 'warning', text, fix });
export const problem = (text: string, fix: string): Finding => ({ kind: 'problem', text, fix });
