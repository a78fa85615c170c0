import { Command } from 'commander';
import { completionEntries, type Entry, type Word } from './completion-entries.ts';

/** What kubectl is told to do where nothing of ours fits: 0 offers file names, 4 offers none. */
const directives = { files: 0, nothingElse: 4 } as const;

/**
 * `causeway kubectl-completion WORDS`: what kubectl asks of the program kubectl_complete-causeway when somebody
 * presses Tab after "kubectl causeway". A line for each offer, and a last one for what to do beside them.
 */
export function kubectlCompletionCommand(): Command {
  return new Command('kubectl-completion')
    .description('answer kubectl what can follow these words')
    .argument('[words...]', 'the words so far; the last is unfinished')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action((words: string[], _options, command: Command) => {
      process.stdout.write(kubectlCompletion(command.parent ?? command, words));
    });
}

/** In the form that kubectl reads. */
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
  /** Nothing but these can follow. */
  readonly isClosed: boolean;
}

function offered(entries: readonly Entry[], typed: readonly string[]): Offered {
  let at = entries[0];
  for (const word of typed.slice(0, -1)) {
    const path = [...(at?.path ?? []), word].join(' ');
    // What is no command is an argument.
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
