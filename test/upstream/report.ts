/** Result of each selected test in ginkgo's report. */
export interface TestOutcome {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  readonly message: string;
}

interface SpecReport {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message?: string };
}

export function readReport(text: string): TestOutcome[] {
  const suites = JSON.parse(text) as { SpecReports: SpecReport[] | null }[];
  return suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType, State, Failure }) => {
      const isUnchosen = State === 'pending' || (State === 'skipped' && !Failure?.Message);
      return LeafNodeType === 'It' && !isUnchosen;
    })
    .map((spec) => ({
      name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
      state: spec.State === 'passed' || spec.State === 'skipped' ? spec.State : 'failed',
      seconds: Math.round(spec.RunTime / 1e9),
      message: spec.Failure?.Message?.split('\n')[0] ?? '',
    }));
}

/** A pattern that matches exactly these tests. */
export const focusOf = (names: readonly string[]) =>
  names.map((name) => `${name.replaceAll(/[[\]().*+?{}|^$\\]/g, String.raw`\$&`)}$`).join('|');
