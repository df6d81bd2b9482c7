// The parts of a dashboard's JSON that the preview renders.
import { FieldConfigSource } from '@grafana/data';

export interface Target {
  expr: string;
  legendFormat: string;
  refId: string;
  instant?: boolean;
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig: FieldConfigSource;
  options: Record<string, any>;
  targets?: Target[];
}

export interface Variable {
  name: string;
  label: string;
  type: string;
  query: string | { query: string };
}

export interface Dashboard {
  uid: string;
  title: string;
  description: string;
  panels: Panel[];
  templating: { list: Variable[] };
}

// Values by variable name; a regular expression, as the queries use them with =~.
export type Chosen = Record<string, string>;

export const ALL = '.*';

export function substitute(text: string, chosen: Chosen, rateInterval: string): string {
  return text.replaceAll(/\$(\w+)/g, (whole, name) => {
    if (name === '__rate_interval') {
      return rateInterval;
    }
    return name in chosen ? chosen[name] : whole;
  });
}

// The rows whose titles begin with one of the names ("R5" is "R5: …"), one below the other; all of them without names.
export function rowsNamed(panels: Panel[], names: string[]): Panel[] {
  const kept: Panel[] = [];
  let isKept = false;
  let top = 0;
  let bottom = 0;
  for (const panel of panels) {
    const { y, h } = panel.gridPos;
    if (panel.type === 'row') {
      isKept = names.length === 0 || names.includes(panel.title.split(':')[0]);
      top = y - bottom;
    }
    if (isKept) {
      kept.push({ ...panel, gridPos: { ...panel.gridPos, y: y - top } });
      bottom = Math.max(bottom, y - top + h);
    }
  }
  return kept;
}
