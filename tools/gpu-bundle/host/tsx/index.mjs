// `node --import tsx`: TypeScript modules load from now on.
import { register } from './api.mjs';

register();
