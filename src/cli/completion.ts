import { Argument, Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** `causeway completion bash`: a script that the shell evaluates. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      [
        '',
        'To use it now and in every new shell:',
        '  bash   echo \'eval "$(causeway completion bash)"\' >> ~/.bashrc',
        '  zsh    echo \'eval "$(causeway completion zsh)"\' >> ~/.zshrc',
        '  fish   causeway completion fish > ~/.config/fish/completions/causeway.fish',
      ].join('\n'),
    )
    .action((shell: Shell, _options, command: Command) => {
      process.stdout.write(completionScript(shell, command.parent ?? command));
    });
}

interface Word {
  readonly word: string;
  readonly description: string;
}

interface Entry {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[];
  readonly words: readonly Word[];
  /** Options that take one of a few values. */
  readonly choices: readonly {
    readonly flags: readonly string[];
    readonly values: readonly string[];
  }[];
}

export function completionScript(shell: Shell, program: Command): string {
  const entries = collect(program, []);
  switch (shell) {
    case 'bash':
      return bash(entries);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(entries)}`;
    case 'fish':
      return fish(entries);
  }
}

function collect(command: Command, path: readonly string[]): Entry[] {
  const commands = command.commands.filter((child) => child.name() !== 'help');
  const words = [
    ...commands.map((child) => ({ word: child.name(), description: child.description() })),
    ...command.options.map((option) => ({
      word: option.long ?? option.short ?? '',
      description: option.description,
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
    ...commands.flatMap((child) => collect(child, [...path, child.name()])),
  ];
}

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(
    ({ path, words }) =>
      `    '${path.join(' ')}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  const valueCases = entries.flatMap(({ path, choices }) =>
    choices.map(({ flags, values }) => {
      const patterns = flags.map((flag) => `'${path.join(' ')} ${flag}'`).join(' | ');
      return `    ${patterns}) words='${values.join(' ')}' ;;`;
    }),
  );
  return `_causeway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) break ;;
      *) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  case "$path $previous" in
${valueCases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _causeway causeway
`;
}

function fish(entries: readonly Entry[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = entries.flatMap(({ path, words, choices }) => {
    const condition =
      path.length === 0
        ? '__fish_use_subcommand'
        : path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    return words.map(({ word, description }) => {
      const values = choices.find(({ flags }) => flags.includes(word))?.values;
      const argument = values === undefined ? '' : ` -x -a ${quote(values.join(' '))}`;
      const what = word.startsWith('--')
        ? `-l ${word.slice(2)}${argument}`
        : `-f -a ${quote(word)}`;
      return `complete -c causeway -n ${quote(condition)} ${what} -d ${quote(description)}`;
    });
  });
  return `${lines.join('\n')}\n`;
}
