// The recogniser of ingle-audio on a bus, as a process that can be frozen; there is no sound server behind it.
import { audio1 } from '../../firmware/audio/contract.ts';
import { connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { openModels } from '../../services/audio/model.ts';
import { recognizer } from '../../services/audio/recognizer.ts';

const recording = recognizer(process.argv[2]!, openModels(readConfig().speech.models));
const bus = await connect();
const impl = {
  Recognize: recording.recognise,
  StopRecognizing({ id }: { id: string }) {
    recording.stop(id);
    return {};
  },
};
await bus.serve(audio1, impl as never);
