// Runs the public GraphQL-over-HTTP audits against the URL given as the argument, one line of JSON per audit.
import { serverAudits } from "graphql-http";

const url = process.argv[2];
for (const audit of serverAudits({ url, fetchFn: fetch })) {
  const result = await audit.fn();
  console.log(JSON.stringify({ id: audit.id, name: audit.name, status: result.status, reason: result.reason ?? null }));
}
