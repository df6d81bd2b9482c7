// Prometheus' HTTP API, and its answers as Grafana's data frames.
import { DataFrame, FieldType, toDataFrame } from '@grafana/data';

interface Series {
  metric: Record<string, string>;
  values?: Array<[number, string]>;
  value?: [number, string];
}

export interface Range {
  from: number;
  to: number;
  step: number;
}

export class Prometheus {
  constructor(private readonly url: string) {}

  async query(expr: string, legend: string, range: Range, instant: boolean): Promise<DataFrame[]> {
    const path = instant ? 'query' : 'query_range';
    const window: Record<string, number> = instant ? { time: range.to } : { start: range.from, end: range.to, step: range.step };
    const data = await this.get(path, { query: expr, ...window });
    return (data as { result: Series[] }).result.map((series) => toFrame(series, legend, range));
  }

  async labelValues(label: string, selector: string): Promise<string[]> {
    return (await this.get(`label/${label}/values`, { 'match[]': selector })) as string[];
  }

  private async get(path: string, parameters: Record<string, string | number>): Promise<unknown> {
    const query = new URLSearchParams(Object.entries(parameters).map(([k, v]) => [k, String(v)]));
    const response = await fetch(`${this.url}/api/v1/${path}?${query}`);
    const answer = await response.json();
    if (answer.status !== 'success') {
      throw new Error(answer.error);
    }
    return answer.data;
  }
}

function toFrame(series: Series, legend: string, range: Range): DataFrame {
  const name = legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => series.metric[label] ?? '');
  const [times, values] = series.values ? fillGaps(series.values, range) : [[range.to * 1000], [Number(series.value![1])]];
  return toDataFrame({
    name,
    fields: [
      { name: 'Time', type: FieldType.time, values: times },
      { name, type: FieldType.number, values, config: { displayNameFromDS: name } },
    ],
  });
}

// Steps without a sample become null, so that an outage is a gap in the line and not a straight stroke across it.
function fillGaps(samples: Array<[number, string]>, range: Range): [number[], Array<number | null>] {
  const times: number[] = [];
  const values: Array<number | null> = [];
  let previous = samples[0][0];
  for (const [time, value] of samples) {
    for (let missing = previous + range.step; missing < time - range.step / 2; missing += range.step) {
      times.push(missing * 1000);
      values.push(null);
    }
    times.push(time * 1000);
    values.push(Number(value));
    previous = time;
  }
  return [times, values];
}
