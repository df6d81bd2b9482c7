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
