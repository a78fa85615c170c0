import fs from 'node:fs';
import path from 'node:path';

/** Log of everything that happens, one line each, on the terminal and in a file among the logs. */
export class Chronicle {
  readonly violations: string[] = [];
  readonly #file: string;
  readonly #beganAt = Date.now();

  constructor(directory: string) {
    this.#file = path.join(directory, 'chronicle.log');
  }

  log(text: string): void {
    const seconds = ((Date.now() - this.#beganAt) / 1000).toFixed(1).padStart(7);
    const line = `${seconds} ${text}\n`;
    process.stdout.write(line);
    fs.appendFileSync(this.#file, line);
  }

  /** Wall time, as in the logs of the components. */
  violation(text: string): void {
    this.violations.push(text);
    this.log(`VIOLATION ${text} (${new Date().toISOString()})`);
  }
}
