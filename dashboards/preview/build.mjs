// Bundles the preview and the generated dashboards into one self-contained page.
import { build } from 'esbuild';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';

const GENERATED = '../generated';
const OUTPUT = '../../build/preview';

const files = (await readdir(GENERATED)).filter((name) => name.endsWith('.json')).sort();
const dashboards = await Promise.all(files.map(async (name) => JSON.parse(await readFile(`${GENERATED}/${name}`, 'utf8'))));

const { outputFiles } = await build({
  entryPoints: ['src/main.tsx'],
  bundle: true,
  minify: true,
  write: false,
  jsx: 'automatic',
  target: 'es2022',
  define: { 'process.env.NODE_ENV': '"production"', DASHBOARDS: JSON.stringify(dashboards), global: 'globalThis' },
  // Styles of components that the preview does not use; the plot's own is put into the page.
  loader: { '.css': 'empty' },
  logLevel: 'error',
});

const plotStyle = await readFile('node_modules/uplot/dist/uPlot.min.css', 'utf8');
// The script must not end its own element.
const script = outputFiles[0].text.replaceAll('</script', '<\\/script');
const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>commitlab dashboards (preview)</title>
<style>${plotStyle} body { overflow-x: hidden }</style></head>
<body><div id="root"></div><script>${script}</script></body>
</html>
`;
await mkdir(OUTPUT, { recursive: true });
await writeFile(`${OUTPUT}/index.html`, page);
console.log(`build/preview/index.html: ${(page.length / 1e6).toFixed(1)} MB, ${dashboards.length} dashboards`);
