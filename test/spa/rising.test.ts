import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fall, hold, rise, tell } from '../../spa/rising.ts';
import { app, follow, set } from '../../spa/store.ts';

const test = suite('what is said together with the documents');
let said = 0;
test.before(() => void follow(() => said++));
test.before.each(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  set({ link: 'connecting', direct: false, lag: null });
  said = 0;
});
test.after.each(() => {
  mock.timers.tick(1000);
  mock.timers.reset();
});

test('that the hub is reached waits for what a desktop shows, and all that is known by then is said at once', () => {
  hold({ link: 'up', direct: false });
  tell({ lag: 12 });
  assert.equal([app().link, app().lag, said], ['connecting', null, 0]);
  rise();
  assert.equal([app().link, app().lag, said], ['up', 12, 1]);
  rise();
  mock.timers.tick(1000);
  assert.is(said, 1);
});

test('it waits a tenth of a second at most, and no longer for what comes meanwhile', () => {
  hold({ link: 'up' });
  mock.timers.tick(90);
  hold({ direct: true });
  mock.timers.tick(10);
  assert.equal([app().link, app().direct], ['up', true]);
});

test('what is no longer so is not said, and where nothing waits all is said at once', () => {
  hold({ link: 'up' });
  fall();
  rise();
  mock.timers.tick(1000);
  assert.is(app().link, 'connecting');
  tell({ lag: 5 });
  assert.is(app().lag, 5);
});

test.run();
