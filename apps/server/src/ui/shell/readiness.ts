import { byId, element } from './element.js';

const pauseMs = 1000;

/**
 * Waits until the server can answer; the page's banner says meanwhile what it does. The probe is
 * open, so this works before a key is entered.
 */
export async function untilReady(): Promise<void> {
  const banner = byId('banner', HTMLElement);
  for (;;) {
    const state = await askState();
    banner.replaceChildren(...(state ? stateView(state) : []));
    banner.hidden = state === undefined;
    if (!state) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Why the server cannot answer; `share` of 0 … 1 is done if it will. */
interface NotReady {
  readonly text: string;
  readonly share?: number;
}

function stateView({ text, share }: NotReady): (Node | string)[] {
  if (share === undefined) return [text];
  return [`${text} `, element('progress', { value: share, max: 1, 'aria-label': text })];
}

async function askState(): Promise<NotReady | undefined> {
  try {
    const answer = await fetch(new URL('../health', document.baseURI), { cache: 'no-store' });
    return answer.ok ? undefined : notReady(await answer.json());
  } catch {
    return { text: 'The server does not answer.' };
  }
}

function notReady(health: { status?: string; phase?: string; progress?: number }): NotReady {
  const { status, phase, progress = 0 } = health;
  if (status === 'loading') {
    return { text: `Loading: ${phase}, ${Math.round(progress * 100)} %`, share: progress };
  }
  if (status === 'draining') return { text: 'The server is shutting down.' };
  return { text: 'The engine has died; the server must be started again.' };
}
