import { byId, element } from './element.ts';

const keys: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['1 to 6', 'change the view'],
  ['j k ↑ ↓', 'move in the list'],
  ['Enter', 'open a Service'],
  ['Esc', 'back'],
  ['?', 'this help'],
];

export function toggleHelp(): void {
  const dialog = byId('help') as HTMLDialogElement;
  if (dialog.open) {
    dialog.close();
    return;
  }
  const list = element('dl', { class: 'facts' });
  for (const [key, text] of keys) {
    list.append(
      element('div', {}, element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)),
    );
  }
  const close = element('button', { type: 'button' }, 'Close');
  close.addEventListener('click', () => dialog.close());
  dialog.replaceChildren(element('h2', { id: 'help-title' }, 'Keys'), list, close);
  dialog.showModal();
}
