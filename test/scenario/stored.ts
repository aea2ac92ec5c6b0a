// The prototypes in the repository, read as the command reads them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as yaml from 'yaml';
import type { Surroundings } from '../../firmware/scenario/check.ts';
import { type Parse, readPrototypes } from '../../firmware/scenario/repository.ts';
import { devTextOf } from '../../services/cli/skill/text.ts';
import { readYaml } from '../../services/cli/yaml.ts';

const folder = 'firmware/scenario/prototypes';
export const parse: Parse = (text, file) => readYaml(yaml, text, file, devTextOf('en'));

function filesBelow(below: string): [string, string][] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((e) => {
    const path = below ? `${below}/${e.name}` : e.name;
    return e.isDirectory() ? filesBelow(path) : [[path, readFileSync(join(folder, path), 'utf8')]];
  });
}

export const storedFiles = () => new Map(filesBelow(''));
export const stored = (around: Surroundings = {}) => readPrototypes(storedFiles(), parse, around);
