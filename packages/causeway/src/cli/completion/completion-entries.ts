import type { Command } from 'commander';

export interface Word {
  readonly word: string;
  readonly description: string;
  /** An option that wants a value after it. */
  readonly takesValue?: boolean;
}

/** What can follow one command. */
export interface Entry {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[];
  readonly words: readonly Word[];
  /** Options that take one of a few values. */
  readonly choices: readonly {
    readonly flags: readonly string[];
    readonly values: readonly string[];
  }[];
}

/** One for the program and one for each command, however deep. */
export function completionEntries(program: Command): Entry[] {
  return collect(program, []);
}

function collect(command: Command, path: readonly string[]): Entry[] {
  // As the help shows them: neither "help" nor what is meant for other programs.
  const commands = command.createHelp().visibleCommands(command);
  const children = commands.filter((child) => child.name() !== 'help');
  const words = [
    ...children.map((child) => ({ word: child.name(), description: child.description() })),
    ...command.options.map((option) => ({
      word: option.long ?? option.short ?? '',
      description: option.description,
      takesValue: option.required,
    })),
    ...command.registeredArguments.flatMap((argument) =>
      (argument.argChoices ?? []).map((word) => ({ word, description: argument.description })),
    ),
    { word: '--help', description: 'show help' },
  ];
  const choices = command.options.flatMap(({ long, short, argChoices }) =>
    argChoices === undefined
      ? []
      : [{ flags: [long, short].filter((flag) => flag !== undefined), values: argChoices }],
  );
  return [
    { path, words, choices },
    ...children.flatMap((child) => collect(child, [...path, child.name()])),
  ];
}
