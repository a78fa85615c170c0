import type { Cause } from '../status.ts';
import { canonicalText } from './json.ts';

/** Reason of an invalid field, as in the API's causes. */
export type FieldErrorReason =
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueInvalid'
  | 'FieldValueNotFound'
  | 'FieldValueNotSupported'
  | 'FieldValueRequired'
  | 'FieldValueTooFew'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** One error in an object: field, reason and message. */
export interface FieldError extends Cause {
  readonly reason: FieldErrorReason;
}

/** Field name of errors that refer to no field. */
export const noField = '<nil>';

function body(title: string, value: string | undefined, detail: string): string {
  return [title, value, detail === '' ? undefined : detail]
    .filter((part) => part !== undefined)
    .join(': ');
}

/** A value in the server's internal notation, which can only be given as text. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a message: strings are quoted, numbers are plain, other values are JSON with sorted keys. */
function shown(value: unknown): string {
  return value instanceof Verbatim ? value.text : canonicalText(value);
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return {
    field,
    reason: 'FieldValueInvalid',
    message: body('Invalid value', shown(value), detail),
  };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return {
    field,
    reason: 'FieldValueTypeInvalid',
    message: body('Invalid value', shown(value), detail),
  };
}

export function required(field: string, detail = ''): FieldError {
  return {
    field,
    reason: 'FieldValueRequired',
    message: body('Required value', undefined, detail),
  };
}

export function forbidden(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: body('Forbidden', undefined, detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return {
    field,
    reason: 'FieldValueDuplicate',
    message: body('Duplicate value', shown(value), ''),
  };
}

export function notSupported(
  field: string,
  value: unknown,
  supported: readonly string[],
): FieldError {
  const detail =
    supported.length === 0
      ? ''
      : `supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`;
  return {
    field,
    reason: 'FieldValueNotSupported',
    message: body('Unsupported value', shown(value), detail),
  };
}

export function notFound(field: string, value: unknown): FieldError {
  return { field, reason: 'FieldValueNotFound', message: body('Not found', shown(value), '') };
}

export function tooLong(field: string, maximum: number): FieldError {
  const unit = maximum === 1 ? 'byte' : 'bytes';
  return {
    field,
    reason: 'FieldValueTooLong',
    message: body('Too long', undefined, `may not be more than ${maximum} ${unit}`),
  };
}

export function tooMany(field: string, actual: number, maximum: number): FieldError {
  const unit = maximum === 1 ? 'item' : 'items';
  return {
    field,
    reason: 'FieldValueTooMany',
    message: body('Too many', String(actual), `must have at most ${maximum} ${unit}`),
  };
}
