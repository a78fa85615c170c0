/** Longer strings rarely repeat. */
const longest = 64;
/** Few strings repeat, and those return to the table soon after it is cleared. */
const maxStrings = 4_096;
const strings = new Map<string, string>();

/**
 * Makes equal strings of stored objects one string in memory: types, policies, finalizers, labels and node
 * names occur in thousands of objects, and parsing makes a new string of each. Changes the value in place,
 * without a visible difference.
 */
export function shareStrings(value: object): void {
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(value)) {
    const field = fields[name];
    if (typeof field === 'string') {
      if (field.length <= longest) fields[name] = shared(field);
    } else if (typeof field === 'object' && field !== null) shareStrings(field);
  }
}

function shared(text: string): string {
  const known = strings.get(text);
  if (known !== undefined) return known;
  if (strings.size >= maxStrings) strings.clear();
  strings.set(text, text);
  return text;
}
