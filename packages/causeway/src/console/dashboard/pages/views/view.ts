/** One page of the dashboard. */
export interface View {
  readonly name: string;
  readonly title: string;
  readonly root: HTMLElement;
  /** Draws the current rows; called when the view is opened and after every change while it is open. */
  show(): void;
}
