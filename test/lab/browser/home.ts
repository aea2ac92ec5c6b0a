// What most suites in a browser begin with: a house, a browser and, paired with it, its owner's phone; gone with the suite.
import type { Browser } from 'playwright-core';
import type { House } from '../../../services/cli/house/house.ts';
import { startHouse } from '../house.ts';
import { started } from '../started.ts';
import { launch, type Phone, type PhoneOptions, pairByLink, phone } from './phone.ts';

type HouseOptions = Parameters<typeof startHouse>[0];

/** Called where a suite's hooks are declared: uvu takes none later. Each is called in its `before`. */
export function home(test: { after(hook: () => Promise<void>): void }) {
  let house: House | undefined;
  let browser: Browser | undefined;
  test.after(async () => {
    await browser?.close();
    await house?.stop();
  });

  async function open(o?: HouseOptions): Promise<[house: House, browser: Browser]> {
    const both = await started(startHouse(o), launch());
    [house, browser] = both;
    return both;
  }
  /** The same, and the first phone has come in by the link. */
  async function paired(
    o: { house?: HouseOptions; phone?: PhoneOptions } = {},
  ): Promise<[house: House, browser: Browser, owner: Phone]> {
    const [at, through] = await open(o.house);
    const owner = await phone(through, o.phone);
    await pairByLink(owner, at);
    return [at, through, owner];
  }
  return { open, paired };
}
