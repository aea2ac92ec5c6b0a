// Whether what a person changed may stand over a prototype: all that is wrong at once, each with its place and reason.
// Pure.
import { below, faultAt, formFaults, type ScenarioFault } from './fault.ts';
import { rewritten } from './rewrite.ts';
import { type Implementation, implementationSchema, type Prototype } from './schema.ts';
import { settingFaults, valueFaults } from './value-type.ts';

function settingsAndParams({ params, io }: Implementation, p: Prototype): ScenarioFault[] {
  const settings = p.io?.settings ?? {};
  return [
    ...Object.entries(params ?? {}).flatMap(([id, value]) => {
      const pointer = below('/params', id);
      return Object.hasOwn(p.params ?? {}, id)
        ? valueFaults(value, p.params![id], pointer)
        : [faultAt(pointer, 'no_param', { id })];
    }),
    ...Object.entries(io?.settings ?? {}).flatMap(([id, value]) => {
      const pointer = below('/io/settings', id);
      return Object.hasOwn(settings, id)
        ? settingFaults(value, settings[id], id, p.io!, pointer)
        : [faultAt(pointer, 'no_setting', { id })];
    }),
  ];
}

/** @param prototype one that passed `checkPrototype` */
export function checkImplementation(value: unknown, prototype: Prototype): ScenarioFault[] {
  const form = formFaults(implementationSchema, value);
  if (form.length > 0) return form;
  const i = value as Implementation;
  return [
    ...settingsAndParams(i, prototype),
    ...Object.keys(i.bindings?.slots ?? {})
      .filter((id) => !Object.hasOwn(prototype.slots ?? {}, id))
      .map((id) => faultAt(below('/bindings/slots', id), 'no_slot', { id })),
    ...(i.hosts ?? []).flatMap((host, at) =>
      prototype.hosts?.includes(host) ? [] : [faultAt(`/hosts/${at}`, 'no_host', { host })],
    ),
    ...rewritten(prototype, i.rewrite ?? []).faults,
  ];
}
