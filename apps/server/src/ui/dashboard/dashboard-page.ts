import { callApi } from '../shell/api.js';
import { followApiKeyField } from '../shell/api-key.js';
import { byId } from '../shell/element.js';
import { untilReady } from '../shell/readiness.js';
import { Dashboard } from './dashboard.js';
import { LoadSource } from './load.js';
import { parseMetrics } from './metrics-text.js';
import { RequestTable } from './request-table.js';
import { type Setting, settingTable } from './tables.js';
import { Timeline } from './timeline.js';

const periodMs = 1000;

/** Entry of the dashboard's page. */
async function start(): Promise<void> {
  const dashboard = new Dashboard();
  const load = new LoadSource();
  const requests = new RequestTable();
  new Timeline();
  let isPaused = false;
  const pause = byId('pause', HTMLButtonElement);
  pause.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
  });
  followApiKeyField(() => {
    load.keyChanged();
    requests.keyChanged();
    void showInfo();
    void showSettings();
  });
  void showSettings();
  void untilReady().then(showInfo);
  for (;;) {
    // A page that nobody sees asks for nothing.
    if (!isPaused && !document.hidden) await look({ dashboard, load, requests });
    await new Promise((resolve) => setTimeout(resolve, periodMs));
  }
}

/** The parts of the page that are asked for again and again. */
interface Parts {
  readonly dashboard: Dashboard;
  readonly load: LoadSource;
  readonly requests: RequestTable;
}

async function look({ dashboard, load, requests }: Parts): Promise<void> {
  const status = byId('status', HTMLElement);
  try {
    const text = await (await callApi('metrics')).text();
    dashboard.show({ atMs: performance.now(), samples: parseMetrics(text) });
    dashboard.showLoad(await load.look());
    await requests.look();
    status.textContent = '';
  } catch (error) {
    status.textContent = `No numbers: ${(error as Error).message}`;
  }
}

async function showInfo(): Promise<void> {
  const place = byId('info', HTMLElement);
  try {
    place.textContent = JSON.stringify(await (await callApi('server_info')).json(), null, 2);
  } catch (error) {
    place.textContent = (error as Error).message;
  }
}

/** What was set, with where; for the operator only. */
async function showSettings(): Promise<void> {
  const place = byId('settings', HTMLElement);
  try {
    const answer = await callApi('admin/settings');
    const { settings } = (await answer.json()) as { settings: readonly Setting[] };
    place.replaceChildren(settingTable(settings));
  } catch (error) {
    place.textContent = (error as Error).message;
  }
}

void start();
