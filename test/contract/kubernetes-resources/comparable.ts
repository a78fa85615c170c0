interface Cause {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * A real server looks at fields in an order that Go's maps decide, so causes are compared without
 * theirs, and the sentence that lists them is not compared again.
 */
export function comparable(answer: unknown): unknown {
  const { body, ...rest } = answer as { body: { details?: { causes?: Cause[] } } };
  const causes = body.details?.causes;
  if (causes === undefined) return { body, ...rest };
  const sorted = causes
    .map(({ field, reason, message }) => `${field}: ${reason}: ${message}`)
    .sort();
  return { ...rest, body: { ...body, message: '…', details: { ...body.details, causes: sorted } } };
}
