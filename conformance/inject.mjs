// Preloaded into the conformance suite (`node --import`), which has no option for credentials: every request that it
// makes gets the headers in TOOLCRIB_HEADERS (a JSON object), unless it sets them itself.
import http from 'node:http';
import { createRequire } from 'node:module';

// The suite's own copy, wherever it is installed: its global dispatcher also carries what `fetch` sends.
const { Agent, setGlobalDispatcher } = createRequire(process.argv[1])('undici');

const added = Object.entries(JSON.parse(process.env.TOOLCRIB_HEADERS ?? '{}'));

// undici takes headers as an object, as pairs, or as one flat array of names and values.
function flat(headers) {
  if (!headers) return [];
  if (Array.isArray(headers)) return headers.flat();
  return (headers[Symbol.iterator] ? [...headers] : Object.entries(headers)).flat();
}

function withAdded(headers) {
  const own = flat(headers);
  const names = own.filter((_, index) => index % 2 === 0).map((name) => String(name).toLowerCase());
  return [...own, ...added.filter(([name]) => !names.includes(name.toLowerCase())).flat()];
}

setGlobalDispatcher(
  new Agent().compose((dispatch) => (options, handler) =>
    dispatch({ ...options, headers: withAdded(options.headers) }, handler)),
);

const request = http.request;
http.request = (...args) => {
  const made = request(...args);
  for (const [name, value] of added) if (!made.hasHeader(name)) made.setHeader(name, value);
  return made;
};
