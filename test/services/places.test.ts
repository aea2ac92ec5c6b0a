// Places for requests: nobody takes those of all, and who asks for many is not forgotten while they are under way.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import { openPlaces, type Place } from '../../services/api/places.ts';

const place = (): Place => ({ isTaken: false, of: undefined, most: MAX_BODY });

function taken(places: ReturnType<typeof openPlaces>, who: string): Place {
  const p = place();
  places.take(p);
  places.takeFor(p, who);
  return p;
}

test('one who asks has 64 places, and another has places all the same', () => {
  const places = openPlaces();
  const mine = Array.from({ length: 64 }, () => taken(places, 'greedy'));
  assert.throws(() => taken(places, 'greedy'), /one browser/);
  taken(places, 'modest');
  places.leave(mine[0]!);
  taken(places, 'greedy');
  assert.throws(() => taken(places, 'greedy'), /one browser/);
});

test('all have 256 places together', () => {
  const places = openPlaces();
  for (let i = 0; i < 256; i++) taken(places, `one_${i}`);
  assert.throws(() => places.take(place()), /at once/);
  assert.is(places.requests(), 256);
});

test('however many have asked, those who ask now are remembered', () => {
  const places = openPlaces();
  const mine = Array.from({ length: 64 }, () => taken(places, 'greedy'));
  for (let i = 0; i < 10_000; i++) places.leave(taken(places, `passes_${i}`));
  assert.throws(() => taken(places, 'greedy'), /one browser/);
  for (const p of mine) places.leave(p);
  assert.is(places.requests(), 1);
});

test('few large bodies are under way at once, each at most what its endpoint takes', () => {
  const places = openPlaces();
  const large = Array.from({ length: 4 }, () => {
    const p = taken(places, 'sender');
    places.makeRoom(p, MAX_BODY + 1, 8 * MAX_BODY);
    return p;
  });
  const late = taken(places, 'sender');
  assert.throws(() => places.makeRoom(late, MAX_BODY + 1, 8 * MAX_BODY), /large bodies/);
  assert.throws(() => places.makeRoom(late, 9 * MAX_BODY, 8 * MAX_BODY), /at most/);
  places.makeRoom(late, MAX_BODY, 8 * MAX_BODY);
  places.leave(large[0]!);
  places.makeRoom(late, MAX_BODY + 1, 8 * MAX_BODY);
});

test.run();
