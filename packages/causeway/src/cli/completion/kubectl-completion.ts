import { Command } from 'commander';
import { completionEntries, type Entry, type Word } from './completion-entries.ts';

/** kubectl's directive if no completion matches: 0 completes file names, 4 completes nothing. */
const directives = { files: 0, nothingElse: 4 } as const;

/**
 * `causeway kubectl-completion WORDS`: kubectl calls it through the program kubectl_complete-causeway when a
 * user presses Tab after "kubectl causeway". Prints one line per completion, and a last line with the
 * directive.
 */
export function kubectlCompletionCommand(): Command {
  return new Command('kubectl-completion')
    .description('print completions of these words for kubectl')
    .argument('[words...]', 'the words so far; the last is unfinished')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action((words: string[], _options, command: Command) => {
      process.stdout.write(kubectlCompletion(command.parent ?? command, words));
    });
}

/** In kubectl's format. */
export function kubectlCompletion(program: Command, typed: readonly string[]): string {
  const { offers, isClosed } = offered(completionEntries(program), typed);
  const unfinished = typed.at(-1) ?? '';
  const fitting = offers.filter(({ word }) => word.startsWith(unfinished));
  const lines = fitting.map(({ word, description }) =>
    description === '' ? word : `${word}\t${description}`,
  );
  const directive = isClosed || fitting.length > 0 ? directives.nothingElse : directives.files;
  return [...lines, `:${directive}`, ''].join('\n');
}

interface Offered {
  readonly offers: readonly Word[];
  /** No other word can follow. */
  readonly isClosed: boolean;
}

function offered(entries: readonly Entry[], typed: readonly string[]): Offered {
  let at = entries[0];
  for (const word of typed.slice(0, -1)) {
    const path = [...(at?.path ?? []), word].join(' ');
    // A word that is not a command is an argument.
    at = entries.find((entry) => entry.path.join(' ') === path) ?? at;
  }
  const previous = typed.at(-2) ?? '';
  const choice = at?.choices.find(({ flags }) => flags.includes(previous));
  if (choice !== undefined) {
    return { offers: choice.values.map((word) => ({ word, description: '' })), isClosed: true };
  }
  const wantsValue = at?.words.some(({ word, takesValue }) => takesValue && word === previous);
  if (wantsValue === true) return { offers: [], isClosed: false };
  return { offers: at?.words ?? [], isClosed: false };
}
