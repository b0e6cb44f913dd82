import { byId } from './element.js';

const pauseMs = 1000;

/**
 * Waits until the server can answer; the page's banner says meanwhile what it does. The probe is
 * open, so this works before a key is entered.
 */
export async function untilReady(): Promise<void> {
  const banner = byId('banner', HTMLElement);
  for (;;) {
    const text = await stateText();
    banner.textContent = text ?? '';
    banner.hidden = text === undefined;
    if (text === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function stateText(): Promise<string | undefined> {
  try {
    const answer = await fetch(new URL('../health', document.baseURI), { cache: 'no-store' });
    return answer.ok ? undefined : loadingText(await answer.json());
  } catch {
    return 'The server does not answer.';
  }
}

function loadingText(health: { status?: string; phase?: string; progress?: number }): string {
  const { status, phase, progress = 0 } = health;
  if (status === 'loading') return `Loading: ${phase}, ${Math.round(progress * 100)} %`;
  if (status === 'draining') return 'The server is shutting down.';
  return 'The engine has died; the server must be started again.';
}
