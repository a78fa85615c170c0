interface Cause {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * A real server checks fields in the order of Go's maps, so causes are compared without order, and the
 * sentence that lists them is not compared again.
 */
export function comparable(answer: unknown): unknown {
  const { body, ...rest } = answer as { body: { details?: { causes?: Cause[] } } };
  const causes = body.details?.causes;
  if (causes === undefined) return { body: withoutAges(body), ...rest };
  const sorted = causes
    .map(({ field, reason, message }) => `${field}: ${reason}: ${message}`)
    .sort();
  return { ...rest, body: { ...body, message: '…', details: { ...body.details, causes: sorted } } };
}

/** Ages depend on the time of the request. */
function withoutAges(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAges);
  if (typeof value === 'string') return /^\d+s$/.test(value) ? '<age>' : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withoutAges(field)]));
}
