export { ApiError, type ApiErrorFacts, clientClosedRequest } from './api-error.js';
export { ClientError } from './client-error.js';
export { ExitError, exitCodes } from './exit-error.js';
export { ServerError } from './server-error.js';
