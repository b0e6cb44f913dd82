export type { ServeFlags } from './config/serve-flags.js';
export { ApiError, type ApiErrorFacts, ExitError, exitCodes, ServerError } from './errors/index.js';
export { type RunningServer, type ServeOptions, serve } from './serve.js';
export type { LoadProgress } from './worker/engine-link.js';
export type { EngineInfo } from './worker/messages.js';
