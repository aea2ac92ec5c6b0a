// What takes its time goes on after its order is answered: one such task at a time, told on the screen.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { HubContext } from '../../../firmware/skills/skill.ts';
import { type Localized, localizer } from '../../../firmware/text/i18n.ts';
import { settingsText } from './texts.ts';

export interface Tasks {
  /**
   * @param tell shows how it stands: `first` at once, and what `work` gives at its end
   * @throws IngleError `conflict` while another goes on
   */
  begin(
    what: 'join' | 'test',
    tell: (text: Localized) => void,
    first: Localized,
    work: () => Promise<Localized>,
  ): void;
}

const t = localizer(settingsText);

/** @param ended is told when a task's end can be shown */
export function openTasks(log: HubContext['log'], ended: () => void): Tasks {
  let isBusy = false;
  return {
    begin(what, tell, first, work) {
      if (isBusy) throw new IngleError('conflict', 'Something else is going on here. Wait for its end.');
      isBusy = true;
      tell(first);
      work()
        .catch((cause) => {
          log.warn('a setting was not changed', { what, cause });
          return t('away');
        })
        .then((end) => {
          tell(end);
          isBusy = false;
          ended();
        });
    },
  };
}
