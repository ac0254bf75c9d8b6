"use strict";

const question = `# Press Ctrl-Enter to ask. Set the tenant under "Headers": {"x-tenant-id": "acme"}
query Ask {
  ask(question: "why are customers unhappy with billing", topK: 6) {
    answer {
      text
      refused
      refusalReason
      confidence
      claims { text support citations { docId quote } }
    }
    grounding { groundedness citationPrecision coverage accepted }
    hits { rank docId score snippet }
  }
}
`;

ReactDOM.createRoot(document.getElementById("explorer")).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: "/graphql" }),
    defaultQuery: question,
    shouldPersistHeaders: true,
  }),
);
