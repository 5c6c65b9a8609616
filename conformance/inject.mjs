// Preloaded into the conformance suite (`node --import`), which has no options for credentials or timeouts. It adds the headers in
// TOOLCRIB_HEADERS (a JSON object) to every request that does not set them, and it extends the suite's timeouts for reading streams.
import http from 'node:http';
import { createRequire } from 'node:module';

// Use the suite's own copy of undici, because its global dispatcher also sends the requests of `fetch`.
const { Agent, setGlobalDispatcher } = createRequire(process.argv[1])('undici');

const added = Object.entries(JSON.parse(process.env.TOOLCRIB_HEADERS ?? '{}'));

// undici accepts headers as an object, as pairs, or as one flat array of names and values.
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

// Some checks read a stream for 500 to 1500 ms. A busy machine can need that long for the first event. Most checks end as soon as the event
// arrives, but one always waits for the whole time, so keep this short.
const STREAM_MS = 6_000;
const later = globalThis.setTimeout;
globalThis.setTimeout = (work, ms, ...rest) => later(work, ms >= 500 && ms <= 1_500 ? STREAM_MS : ms, ...rest);
