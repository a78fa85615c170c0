import type { Command } from 'commander';

export interface Word {
  readonly word: string;
  readonly description: string;
  /** An option that requires a value. */
  readonly takesValue?: boolean;
}

/** Completions after one command. */
export interface Entry {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[];
  readonly words: readonly Word[];
  /** Options with a fixed list of values. */
  readonly choices: readonly {
    readonly flags: readonly string[];
    readonly values: readonly string[];
  }[];
}

/** One for the program and one for each command at any depth. */
export function completionEntries(program: Command): Entry[] {
  return collect(program, []);
}

function collect(command: Command, path: readonly string[]): Entry[] {
  // As the help shows them: without "help" and commands for other programs.
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
