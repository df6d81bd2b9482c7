// One panel: Grafana's frame around Grafana's time series or stat.
import { createTheme, DataFrame, dateTime, FieldColorModeId, FieldType, getDisplayProcessor, TimeRange } from '@grafana/data';
import { TooltipDisplayMode } from '@grafana/schema';
import { BigValue, BigValueColorMode, BigValueGraphMode, BigValueTextMode, PanelChrome, TimeSeries, TooltipPlugin } from '@grafana/ui';
import { useEffect, useState } from 'react';

import { Chosen, Panel, substitute } from './model';
import { Prometheus, Range } from './prometheus';

const theme = createTheme({ colors: { mode: 'dark' } });

interface Props {
  panel: Panel;
  prometheus: Prometheus;
  range: Range;
  rateInterval: string;
  chosen: Chosen;
  width: number;
  height: number;
}

export function PanelView(props: Props) {
  const { panel, width, height } = props;
  const { frames, error } = useFrames(props);
  return (
    <PanelChrome
      title={panel.title}
      description={panel.description}
      width={width}
      height={height}
      statusMessage={error}
    >
      {(innerWidth, innerHeight) => <Content {...props} frames={frames} width={innerWidth} height={innerHeight} />}
    </PanelChrome>
  );
}

function useFrames({ panel, prometheus, range, rateInterval, chosen }: Props) {
  const [result, setResult] = useState<{ frames: DataFrame[]; error?: string }>({ frames: [] });
  useEffect(() => {
    let current = true;
    const queries = (panel.targets ?? []).map((target) =>
      prometheus.query(substitute(target.expr, chosen, rateInterval), target.legendFormat, range, target.instant ?? false),
    );
    Promise.all(queries)
      .then((answers) => withConfig(answers.flat(), panel))
      .then((frames) => current && setResult({ frames }))
      .catch((error) => current && setResult({ frames: [], error: String(error.message ?? error) }));
    return () => {
      current = false;
    };
  }, [panel, prometheus, range, rateInterval, chosen]);
  return result;
}

// The generated dashboards have no overrides (their lint sees to it): the defaults are every field's configuration.
function withConfig(frames: DataFrame[], panel: Panel): DataFrame[] {
  return frames.map((frame, index) => {
    const fields = frame.fields.map((field) => {
      if (field.type === FieldType.time) {
        return { ...field, display: getDisplayProcessor({ field, theme, timeZone: 'browser' }) };
      }
      const config = { color: { mode: FieldColorModeId.PaletteClassic }, ...panel.fieldConfig.defaults, ...field.config };
      const configured = { ...field, config, state: { ...field.state, seriesIndex: index } };
      return { ...configured, display: getDisplayProcessor({ field: configured, theme, timeZone: 'browser' }) };
    });
    return { ...frame, fields };
  });
}

function Content({ panel, frames, range, width, height }: Props & { frames: DataFrame[] }) {
  if (frames.length === 0) {
    return <div style={{ textAlign: 'center', paddingTop: height / 3, color: theme.colors.text.secondary }}>No data</div>;
  }
  if (panel.type === 'stat') {
    return <Stats panel={panel} frames={frames} width={width} height={height} />;
  }
  const timeRange = toTimeRange(range);
  return (
    <TimeSeries
      frames={frames}
      timeRange={timeRange}
      timeZone="browser"
      width={width}
      height={height}
      legend={panel.options.legend}
      options={panel.options}
    >
      {(config, aligned) => (
        <TooltipPlugin data={aligned} config={config} mode={TooltipDisplayMode.Multi} timeZone="browser" />
      )}
    </TimeSeries>
  );
}

// One figure for each series, beside each other; several are named, as Grafana does.
function Stats({ panel, frames, width, height }: { panel: Panel; frames: DataFrame[]; width: number; height: number }) {
  return (
    <div style={{ display: 'flex' }}>
      {frames.map((frame, index) => (
        <Stat key={index} panel={panel} frame={frame} named={frames.length > 1} width={width / frames.length} height={height} />
      ))}
    </div>
  );
}

interface StatProps {
  panel: Panel;
  frame: DataFrame;
  named: boolean;
  width: number;
  height: number;
}

function Stat({ panel, frame, named, width, height }: StatProps) {
  const field = frame.fields[1];
  const value = field.display!(field.values[field.values.length - 1]);
  return (
    <BigValue
      theme={theme}
      width={width}
      height={height}
      value={named ? { ...value, title: field.config.displayName ?? frame.name ?? field.name } : value}
      colorMode={panel.options.colorMode as BigValueColorMode}
      graphMode={BigValueGraphMode.None}
      textMode={named ? BigValueTextMode.ValueAndName : BigValueTextMode.Value}
    />
  );
}

function toTimeRange(range: Range): TimeRange {
  const [from, to] = [dateTime(range.from * 1000), dateTime(range.to * 1000)];
  return { from, to, raw: { from, to } };
}
