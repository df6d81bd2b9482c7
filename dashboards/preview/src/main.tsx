// A preview of the generated dashboards. ?prometheus=URL says where the data are, ?scrape=SECONDS how often they are taken;
// ?dashboard=UID, ?rows=R5,R9, ?minutes=N and ?until=UNIXTIME choose.
import { createTheme, ThemeContext } from '@grafana/data';
import { GlobalStyles } from '@grafana/ui';
import { useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';

import { ALL, Chosen, Dashboard, rowsNamed, substitute, Variable } from './model';
import { PanelView } from './PanelView';
import { Prometheus, Range } from './prometheus';

declare const DASHBOARDS: Dashboard[];

const GRID_COLUMNS = 24;
const GRID_ROW_PIXELS = 38;
const GAP_PIXELS = 8;
const REFRESH_MILLISECONDS = 5000;
const POINTS = 240;
const SMALLEST_STEP_SECONDS = 1;
// The chart's; what Grafana's $__rate_interval comes to is four of them.
const USUAL_SCRAPE_SECONDS = 5;

const SELECT_STYLE = { height: 28, width: 160, color: 'inherit', background: '#22252b' };

const parameters = new URLSearchParams(location.search);
const minutes = Number(parameters.get('minutes') ?? 15);
const until = Number(parameters.get('until') ?? 0);
const shortestRateSeconds = 4 * Number(parameters.get('scrape') ?? USUAL_SCRAPE_SECONDS);
const rows = parameters.get('rows')?.split(',') ?? [];
const theme = createTheme({ colors: { mode: 'dark' } });

function currentRange(): Range {
  const step = Math.max(SMALLEST_STEP_SECONDS, Math.ceil((minutes * 60) / POINTS));
  const to = Math.floor((until || Date.now() / 1000) / step) * step;
  return { from: to - minutes * 60, to, step };
}

function useRange(): Range {
  const [range, setRange] = useState(currentRange);
  useEffect(() => {
    const timer = setInterval(() => setRange(currentRange()), REFRESH_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  return range;
}

function VariableSelect({ variable, prometheus, chosen, onChange }: {
  variable: Variable;
  prometheus: Prometheus;
  chosen: Chosen;
  onChange: (value: string) => void;
}) {
  const [values, setValues] = useState<string[]>([]);
  const definition = typeof variable.query === 'string' ? variable.query : variable.query.query;
  const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? ['', '', ''];
  const concrete = substitute(selector, chosen, '');
  useEffect(() => {
    prometheus.labelValues(label, concrete).then(setValues, () => setValues([]));
  }, [prometheus, label, concrete]);
  return (
    <label>
      {variable.label}{' '}
      <select style={SELECT_STYLE} value={chosen[variable.name]} onChange={(event) => onChange(event.target.value)}>
        <option value={ALL}>All</option>
        {values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  );
}

function DashboardView({ dashboard, prometheus }: { dashboard: Dashboard; prometheus: Prometheus }) {
  const variables = useMemo(() => dashboard.templating.list.filter((v) => v.type === 'query'), [dashboard]);
  const [chosen, setChosen] = useState<Chosen>(() => Object.fromEntries(variables.map((v) => [v.name, ALL])));
  const range = useRange();
  const width = useWindowWidth() - 2 * GAP_PIXELS;
  const column = width / GRID_COLUMNS;
  const rateInterval = `${Math.max(shortestRateSeconds, 4 * range.step)}s`;
  const panels = useMemo(() => rowsNamed(dashboard.panels, rows), [dashboard]);
  const bottom = Math.max(...panels.map((p) => p.gridPos.y + p.gridPos.h));
  return (
    <>
      <div style={{ display: 'flex', gap: 16, padding: GAP_PIXELS }}>
        {variables.map((variable) => (
          <VariableSelect
            key={variable.name}
            variable={variable}
            prometheus={prometheus}
            chosen={chosen}
            onChange={(value) => setChosen({ ...chosen, [variable.name]: value })}
          />
        ))}
      </div>
      <div style={{ position: 'relative', margin: GAP_PIXELS, height: bottom * GRID_ROW_PIXELS }}>
        {panels.map((panel) => {
          const { x, y, w, h } = panel.gridPos;
          const place = { position: 'absolute', left: x * column, top: y * GRID_ROW_PIXELS } as const;
          if (panel.type === 'row') {
            return <h4 key={panel.id} style={{ ...place, margin: '8px 0' }}>{panel.title}</h4>;
          }
          return (
            <div key={panel.id} style={place}>
              <PanelView
                panel={panel}
                prometheus={prometheus}
                range={range}
                rateInterval={rateInterval}
                chosen={chosen}
                width={w * column - GAP_PIXELS}
                height={h * GRID_ROW_PIXELS - GAP_PIXELS}
              />
            </div>
          );
        })}
      </div>
    </>
  );
}

function useWindowWidth(): number {
  const [width, setWidth] = useState(document.documentElement.clientWidth);
  useEffect(() => {
    const update = () => setWidth(document.documentElement.clientWidth);
    window.addEventListener('resize', update);
    return () => window.removeEventListener('resize', update);
  }, []);
  return width;
}

function App() {
  const address = parameters.get('prometheus') ?? (location.protocol.startsWith('http') ? location.origin : 'http://127.0.0.1:9090');
  const prometheus = useMemo(() => new Prometheus(address), [address]);
  const dashboard = DASHBOARDS.find((d) => d.uid === parameters.get('dashboard')) ?? DASHBOARDS[0];
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <header style={{ padding: GAP_PIXELS }}>
        <h2>{dashboard.title}</h2>
        <p>
          A preview of the generated dashboard, rendered with Grafana’s published components, not by Grafana. Data: {address},{' '}
          {until ? `${minutes} minutes until ${new Date(until * 1000).toISOString()}` : `last ${minutes} minutes`}.
        </p>
      </header>
      <DashboardView dashboard={dashboard} prometheus={prometheus} />
    </ThemeContext.Provider>
  );
}

createRoot(document.getElementById('root')!).render(<App />);
