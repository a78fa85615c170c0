import { styleText } from 'node:util';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { withoutControls } from '@causeway/base/text/printable';

export const outputFormats = ['table', 'wide', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface Column<Row> {
  readonly title: string;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
  value(row: Row): string;
}

/** Adds the option `--output` to a command that prints objects. */
export function addOutputOption(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'output format').choices(outputFormats).default('table'),
  );
}

/** Prints objects: completely for programs, the columns for people. */
export function printObjects<Row extends object>(
  format: OutputFormat,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): void {
  process.stdout.write(formatObjects(format, rows, columns));
}

export function formatObjects<Row extends object>(
  format: OutputFormat,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return formatValue(format, rows);
    case 'table':
      return formatTable(
        rows,
        columns.filter(({ isWide }) => isWide !== true),
      );
    case 'wide':
      return formatTable(rows, columns);
  }
}

/** A value for programs. */
export function formatValue(format: 'json' | 'yaml', value: unknown): string {
  return format === 'json' ? `${JSON.stringify(value, undefined, 2)}\n` : stringify(value);
}

function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [
    columns.map(({ title }) => title.toUpperCase()),
    ...rows.map((row) => columns.map((column) => withoutControls(column.value(row)))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((line) => (line[index] ?? '').length)),
  );
  return cells
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** Styles text for standard output, only if that is a terminal with colors. */
export function style(
  format: 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan',
  text: string,
): string {
  return styleText(format, text, { stream: process.stdout });
}
