// Preloaded into a house's processes by a test: root alone reads a clock that is ahead by what a file says, in ms.
import { readFileSync, writeFileSync } from 'node:fs';

const file = process.env.INGLE_TEST_CLOCK;
if (file && /\/root\/main\.[jt]s$/.test(process.argv[1] ?? '')) {
  let ahead = 0;
  setInterval(() => {
    const wanted = Number(readFileSync(file, 'utf8'));
    if (wanted === ahead) return;
    ahead = wanted;
    // Its being there tells the test that the clock goes so.
    writeFileSync(`${file}.${ahead}`, '');
  }, 20).unref();
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length ? given : [RealDate.now() + ahead]));
    }
    static now() {
      return RealDate.now() + ahead;
    }
  };
}
