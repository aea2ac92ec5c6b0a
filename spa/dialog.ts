// A dialog over the page, outside of whatever is drawn there. The focus is kept in it, and goes back where it was.
import { type ComponentChild, render } from 'preact';
import { sheet } from './owner.css';

/**
 * @param draw is given what closes it
 * @returns what it was closed with; undefined by Escape
 */
export async function openDialog<R>(
  attributes: Record<string, string>,
  draw: (close: (with_?: R) => void) => ComponentChild,
): Promise<R | undefined> {
  await sheet;
  const before = document.activeElement;
  const dialog = document.createElement('dialog');
  for (const [name, value] of Object.entries(attributes)) dialog.setAttribute(name, value);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let result: R | undefined;
    const close = (r?: R) => {
      result = r;
      dialog.close();
    };
    dialog.addEventListener('close', () => {
      render(null, dialog);
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(result);
    });
    // Keys that are meant for what is open close nothing below it.
    dialog.addEventListener('keydown', (e) => e.stopPropagation());
    dialog.addEventListener('click', (e) => {
      if (e.target === dialog) dialog.close();
    });
    render(draw(close), dialog);
    dialog.showModal();
  });
}
