/** One page of the dashboard. */
export interface View {
  readonly name: string;
  readonly title: string;
  readonly root: HTMLElement;
  /** Draws what the store holds now; called when it is opened and after every change while it is open. */
  show(): void;
}
