/** Formats a duration with two or three digits of precision: `45s`, `3m20s`, `5h`, `2d4h`, `3y`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return parts(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return parts(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return parts(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  if (years < 8) return parts(years, 'y', days % 365, 'd');
  return `${years}y`;
}

function parts(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
}
