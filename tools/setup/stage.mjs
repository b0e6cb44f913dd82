// Stages a platform package. Run from its folder, as its `build` task.

import { stageFiles } from './staged-files.mjs';

stageFiles(process.cwd());
