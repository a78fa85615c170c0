/**
 * How an object is written on the wire: the wire name of each field, or a function where more than the name
 * differs. A table lets the compiler check that no field is missing.
 */
export type WireTable<T> = {
  readonly [Key in keyof T]-?:
    | string
    | ((value: Exclude<T[Key], undefined>) => Readonly<Record<string, unknown>>);
};

/** Undefined fields are omitted; null is sent, because it removes a value. */
export function toWire<T extends object>(
  table: WireTable<T>,
  value: Partial<T>,
): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const key of Object.keys(table) as (keyof T)[]) {
    const field = value[key];
    if (field === undefined) continue;
    const entry = table[key] as string | ((value: unknown) => object);
    if (typeof entry === 'function') Object.assign(wire, entry(field));
    else wire[entry] = field;
  }
  return wire;
}

/** The same for the query of a list: lists become repeated keys. */
export function toQuery<T extends object>(
  table: WireTable<T>,
  filter: Partial<T>,
): URLSearchParams {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(toWire(table, filter))) {
    for (const single of Array.isArray(value) ? (value as unknown[]) : [value]) {
      query.append(key, String(single));
    }
  }
  return query;
}
