/** Names that others have chosen must neither begin a new line nor steer the terminal. */
export function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Text of several lines of ours, with parts that others have chosen. */
export function printableLines(text: string): string {
  return text.split('\n').map(withoutControls).join('\n');
}
