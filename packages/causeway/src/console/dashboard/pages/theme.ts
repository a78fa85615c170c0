const names = ['system', 'light', 'dark'] as const;
type Theme = (typeof names)[number];
const storageKey = 'causeway-theme';

/** Cycles through the themes with the button, and stores the choice. */
export function setUpTheme(button: HTMLElement): void {
  let current = read();
  const show = () => {
    if (current === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = current;
    button.textContent = `Theme: ${current}`;
  };
  button.addEventListener('click', () => {
    current = names[(names.indexOf(current) + 1) % names.length] ?? 'system';
    localStorage.setItem(storageKey, current);
    show();
  });
  show();
}

function read(): Theme {
  const stored = localStorage.getItem(storageKey);
  return names.find((name) => name === stored) ?? 'system';
}
