/** A download that did not end as its client requested. */
export interface LostDownload {
  readonly kind: 'lost';
  readonly at: number;
  readonly isEstablished: boolean;
  /** What the server said first: its pod and node. */
  readonly from: string;
  readonly cause: string;
}

export interface DownloadSummary {
  readonly kind: 'summary';
  readonly at: number;
  readonly running: number;
  readonly finished: number;
}

export type DownloadLine = LostDownload | DownloadSummary;

export function readDownloadLines(text: string): DownloadLine[] {
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = complete.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as DownloadLine);
}
