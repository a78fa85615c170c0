/** The start of a watch event up to its object's metadata, as API servers write it. */
const beginning =
  /^\{"type":"[A-Z]+","object":\{(?:"kind":"\w+","apiVersion":"[\w./-]+"|"apiVersion":"[\w./-]+","kind":"\w+"),"metadata":\{/;
const field = '"managedFields":[';

const quote = 0x22;
const comma = 0x2c;
const openingBracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/**
 * Removes `metadata.managedFields` from the text of an event before it is parsed. It is half of the text of a
 * typical object and takes more than half of the time and memory of parsing it, and no watcher reads it. Text
 * in an unexpected layout is left unchanged.
 */
export function withoutManagedFields(line: string): string {
  const start = beginning.exec(line)?.[0].length;
  if (start === undefined) return line;
  const at = findField(line, start);
  const end = at === undefined ? undefined : endOfValue(line, at + field.length - 1);
  if (at === undefined || end === undefined) return line;
  if (line.charCodeAt(end) === comma) return line.slice(0, at) + line.slice(end + 1);
  const before = line.charCodeAt(at - 1) === comma ? at - 1 : at;
  return line.slice(0, before) + line.slice(end);
}

/** The position of the field in the object with members that start here. */
function findField(line: string, start: number): number | undefined {
  let depth = 0;
  let from = start;
  // Quotes inside a string are escaped, so a match can only be a key; the nesting shows its object.
  for (let at = line.indexOf(field, start); at >= 0; at = line.indexOf(field, at + 1)) {
    depth = depthAt(line, from, at, depth);
    if (depth === 0) return at;
    if (depth < 0) return undefined;
    from = at;
  }
  return undefined;
}

/** The nesting depth at the end, for a given depth at the start; -1 if the text leaves the object. */
function depthAt(text: string, start: number, end: number, depthAtStart: number): number {
  let depth = depthAtStart;
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfString(text, index);
    else if (code === openingBrace || code === openingBracket) depth += 1;
    else if (code === closingBrace || code === closingBracket) depth -= 1;
    if (depth < 0) return -1;
  }
  return depth;
}

/** The position after the array or object that starts here. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfString(text, index);
    else if (code === openingBrace || code === openingBracket) depth += 1;
    else if (code === closingBrace || code === closingBracket) {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}

/** The position of the quote that closes the string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
