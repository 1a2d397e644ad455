// Whether a model's inputs may go to the server: asked once a model, remembered, revocable.

import { forget, recall, remember } from './remembered';

const key = (model: string): string => `may-ask-server.${model}`;

export const mayAskServer = (model: string): boolean => recall(key(model)) === 'yes';
export const allowServer = (model: string): void => remember(key(model), 'yes');
export const revokeServer = (model: string): void => forget(key(model));
