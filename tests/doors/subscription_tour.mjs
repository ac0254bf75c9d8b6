// The official graphql-ws client against the URL given first, for the tenant given second: it reads one digest, loses its connection, comes back with
// the last id and reads the rest up to the number given third; then it asks for something that does not exist. One line of JSON.
import { createClient } from "graphql-ws";
import WebSocket from "ws";

const [url, tenant, last] = process.argv.slice(2);
const query = "subscription($after: ID) { digestPublished(after: $after) { digestId } }";
const client = () => createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0, connectionParams: { "x-tenant-id": tenant } });

async function read(after, until) {
  const talking = client();
  const seen = [];
  for await (const result of talking.iterate({ query, variables: { after } })) {
    seen.push(result.data.digestPublished.digestId);
    if (until(seen)) break;
  }
  talking.terminate();
  return seen;
}

async function refused() {
  const talking = client();
  try {
    for await (const _ of talking.iterate({ query: "subscription { digestPublished { nothing } }" })) break;
    return null;
  } catch (errors) {
    return errors[0].extensions.code;
  } finally {
    await talking.dispose();
  }
}

const first = await read("", (seen) => seen.length === 1);
const resumed = await read(first.at(-1), (seen) => seen.at(-1) === `dig_${last}`);
console.log(JSON.stringify({ first, resumed, refused: await refused() }));
process.exit(0);
