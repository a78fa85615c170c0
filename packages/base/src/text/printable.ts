/** Escapes control characters, so that foreign text can't start a new line or control the terminal. */
export function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Escapes control characters in foreign parts of a text, but keeps its line breaks. */
export function printableLines(text: string): string {
  return text.split('\n').map(withoutControls).join('\n');
}
