import { Argument, Command } from 'commander';
import { completionEntries, type Entry } from './completion-entries.ts';

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
        '',
        'kubectl completes "kubectl causeway" if kubectl_complete-causeway is in the PATH;',
        'it comes with the package, beside kubectl-causeway.',
      ].join('\n'),
    )
    .action((shell: Shell, _options, command: Command) => {
      process.stdout.write(completionScript(shell, command.parent ?? command));
    });
}

export function completionScript(shell: Shell, program: Command): string {
  const entries = completionEntries(program);
  switch (shell) {
    case 'bash':
      return bash(entries);
    case 'zsh':
      return zsh(entries);
    case 'fish':
      return fish(entries);
  }
}

/** A shell case for each option with a fixed list of values. */
const valueCases = (entries: readonly Entry[], write: (values: readonly string[]) => string) =>
  entries.flatMap(({ path, choices }) =>
    choices.map(({ flags, values }) => {
      const patterns = flags.map((flag) => `'${path.join(' ')} ${flag}'`).join(' | ');
      return `    ${patterns}) ${write(values)} ;;`;
    }),
  );

/** Words after a word that is not a command are arguments. */
const knownPaths = (entries: readonly Entry[]) =>
  entries
    .slice(1)
    .map(({ path }) => `'${path.join(' ')}'`)
    .join(' | ');

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(
    ({ path, words }) =>
      `    '${path.join(' ')}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  const values = valueCases(entries, (all) => `words='${all.join(' ')}'`);
  return `_causeway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" at='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${at:+$at }$word" in
      ${knownPaths(entries)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  case "$at $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _causeway causeway
`;
}

/** Initializes zsh's completion if it is not set up yet. */
function zsh(entries: readonly Entry[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const cases = entries.map(({ path, words }) => {
    const all = words.map(({ word, description }) => quote(`${word}:${description}`));
    return `    '${path.join(' ')}') found=(${all.join(' ')}) ;;`;
  });
  const values = valueCases(entries, (all) => `compadd -- ${all.map(quote).join(' ')}; return`);
  return `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_causeway() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      ${knownPaths(entries)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$at" in
${cases.join('\n')}
  esac
  _describe causeway found || _files
}
compdef _causeway causeway
`;
}

function fish(entries: readonly Entry[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const known = entries.slice(1).map(({ path }) => quote(path.join(' ')));
  const lines = entries.flatMap(({ path, words, choices }) => {
    const condition = ['__causeway_at', ...path].join(' ');
    return words.map(({ word, description, takesValue }) => {
      const values = choices.find(({ flags }) => flags.includes(word))?.values;
      const value = takesValue === true ? ' -r' : '';
      const argument = values === undefined ? value : ` -x -a ${quote(values.join(' '))}`;
      const what = word.startsWith('--')
        ? `-l ${word.slice(2)}${argument}`
        : `-f -a ${quote(word)}`;
      return `complete -c causeway -n ${quote(condition)} ${what} -d ${quote(description)}`;
    });
  });
  return `${fishStart(known)}${lines.join('\n')}\n`;
}

/** Tests whether the current line is at exactly this command, not at a parent or child. */
const fishStart = (known: readonly string[]) => `function __causeway_at
  set -l path
  for word in (commandline -opc)[2..-1]
    contains -- (string join ' ' -- $path $word) ${known.join(' ')}; and set -a path $word
  end
  test "$path" = "$argv"
end
`;
