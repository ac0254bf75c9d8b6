"use strict";

// Text of documents reaches the page through textContent alone, so that whatever markup it holds stays text.

const ASK = `query($question: String!) {
  ask(question: $question) {
    runId seconds
    answer {
      text refused refusalReason confidence
      refusal { reason gate score threshold hint nearest { docId snippet } }
      claims {
        text kind support documentCount
        citations { docId version start end }
        counterEvidence { docId version start end }
      }
    }
    grounding { groundedness citationPrecision coverage }
    degraded { part effect }
    trace { steps { name ms outcome } }
  }
}`;
const DOCUMENT = "query($docId: ID!) { document(docId: $docId) { docId version title text occurredAt themeId accountId source { kind name } } }";
const OVERVIEW = `{
  corpus { documents themes firstOccurredAt lastOccurredAt }
  aggregateByTheme(limit: 15) { total themesTotal withoutTheme themes { themeId count share cursor } }
}`;
const THEME = "query($after: String!) { documents(first: 50, after: $after) { total documents { docId text } } }";

const WATCHING = `{
  monitors(first: 20) { monitors { monitorId name question state paused observed threshold unit problem } }
  digests(first: 3) { digests { ...shown } }
}`;
const DIGEST = "query($digestId: ID!) { digest(digestId: $digestId) { ...shown } }";
const SHOWN = `fragment shown on Digest {
  digestId monitorName severity version windowStart windowEnd firedBecause docIds
  refusal { message }
  claims { text kind documentCount citations { docId version start end } counterEvidence { docId version start end } }
}`;

const byId = (id) => document.getElementById(id);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

async function graphql(query, variables = {}) {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const tenant = byId("tenant").value.trim();
  if (tenant) headers["x-tenant-id"] = tenant;
  const response = await fetch("/graphql", { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  const body = await response.json();
  if (body.errors) throw new Error(body.errors[0].message);
  if (!response.ok) throw new Error(body.detail || response.statusText);
  return body.data;
}

function chip(citation, against = false) {
  const button = element("button", { type: "button", className: against ? "chip against" : "chip", textContent: citation.docId });
  button.addEventListener("click", () => openDocument(citation.docId, citation));
  return button;
}

function claimCard(claim) {
  const chips = element("div", { className: "chips" });
  chips.append(element("span", { className: "badge", textContent: claim.kind }), ...claim.citations.map((item) => chip(item)));
  if (claim.documentCount > 1) chips.append(element("span", { className: "quiet", textContent: `said in ${claim.documentCount} documents` }));
  if (claim.counterEvidence.length) {
    chips.append(element("span", { className: "quiet", textContent: "against:" }), ...claim.counterEvidence.map((item) => chip(item, true)));
  }
  return element("div", { className: "claim" }, element("p", { textContent: claim.text }), chips);
}

function refusalCard(answer) {
  const { refusal } = answer;
  const card = element("div", { className: "card refusal" });
  card.append(element("strong", { textContent: answer.text }), element("p", { textContent: answer.refusalReason }));
  if (refusal.hint) card.append(element("p", { className: "quiet", textContent: refusal.hint }));
  const numbers = refusal.score === null ? "" : ` · ${refusal.score.toFixed(2)} of ${(refusal.threshold ?? 0).toFixed(2)}`;
  card.append(element("span", { className: "badge", textContent: `${refusal.reason} · ${refusal.gate}${numbers}` }));
  if (refusal.nearest.length) {
    const list = element("ul", { className: "nearest" });
    for (const near of refusal.nearest) list.append(element("li", {}, chip(near), ` ${near.snippet}`));
    card.append(element("h2", { textContent: "Nearest documents" }), list);
  }
  return card;
}

function traceDetails(run) {
  const list = element("ol");
  for (const step of run.trace?.steps ?? []) list.append(element("li", { textContent: `${step.name}: ${step.outcome}, ${step.ms.toFixed(1)} ms` }));
  const summary = element("summary", { textContent: `How this came about (${(run.seconds * 1000).toFixed(0)} ms)` });
  return element("details", {}, summary, list);
}

function showRun(run) {
  const parts = [];
  for (const lost of run.degraded) parts.push(element("p", { className: "quiet", textContent: `Without ${lost.part}: ${lost.effect}` }));
  if (run.answer.refused) {
    parts.push(refusalCard(run.answer));
  } else {
    const card = element("div", { className: "card" }, ...run.answer.claims.map(claimCard));
    const { groundedness, citationPrecision } = run.grounding;
    const confidence = run.answer.confidence === null ? "not calibrated" : run.answer.confidence.toFixed(2);
    const text = `groundedness ${groundedness.toFixed(2)} · citation precision ${citationPrecision.toFixed(2)} · confidence ${confidence}`;
    card.append(element("p", { className: "quiet", textContent: text }));
    parts.push(card);
  }
  parts.push(traceDetails(run));
  byId("result").replaceChildren(...parts);
}

function showError(error) {
  byId("result").replaceChildren(element("div", { className: "card refusal", role: "alert" }, element("strong", { textContent: "That did not work." }), element("p", { textContent: error.message })));
}

async function openDocument(docId, span = null) {
  try {
    const found = (await graphql(DOCUMENT, { docId })).document;
    byId("reader-title").textContent = found ? found.title || found.docId : docId;
    byId("reader-about").textContent = found ? about(found, span) : "This document is no longer there.";
    byId("reader-text").replaceChildren(...(found ? marked(found, span) : []));
    byId("reader").showModal();
    byId("reader-text").querySelector("mark")?.scrollIntoView({ block: "center" });
  } catch (error) {
    showError(error);
  }
}

function about(found, span) {
  const parts = [found.docId, found.source.name || found.source.kind, found.occurredAt.slice(0, 10), found.themeId, found.accountId];
  if (span && span.version !== undefined && span.version !== found.version) parts.push("changed since it was cited");
  return parts.filter(Boolean).join(" · ");
}

function marked(found, span) {
  const points = Array.from(found.text); // offsets count code points, not UTF-16 units
  if (!span || span.start === undefined || span.version !== found.version) return [found.text];
  const cut = (from, to) => points.slice(from, to).join("");
  return [cut(0, span.start), element("mark", { textContent: cut(span.start, span.end) }), cut(span.end)];
}

async function openTheme(theme) {
  try {
    const page = (await graphql(THEME, { after: theme.cursor })).documents;
    byId("reader-title").textContent = theme.themeId;
    byId("reader-about").textContent = `${page.total} documents, newest first`;
    const list = element("ul", { className: "nearest" });
    for (const item of page.documents) list.append(element("li", {}, chip(item), ` ${Array.from(item.text).slice(0, 160).join("")}`));
    byId("reader-text").replaceChildren(list);
    if (!byId("reader").open) byId("reader").showModal();
  } catch (error) {
    showError(error);
  }
}

function themeBar(theme, largest) {
  const fill = element("span", { className: "fill" });
  fill.style.setProperty("--share", `${(100 * theme.count) / largest}%`);
  const bar = element("button", { type: "button", className: "bar" });
  bar.append(
    element("span", { className: "name", textContent: theme.themeId }),
    element("span", { className: "track" }, fill),
    element("span", { className: "count", textContent: theme.count }),
  );
  bar.addEventListener("click", () => openTheme(theme));
  return bar;
}

async function showOverview() {
  try {
    const { corpus, aggregateByTheme } = await graphql(OVERVIEW);
    const range = corpus.documents ? `, ${corpus.firstOccurredAt.slice(0, 10)} to ${corpus.lastOccurredAt.slice(0, 10)}` : "";
    byId("corpus").textContent = `${corpus.documents} documents, ${corpus.themes} themes${range}`;
    const largest = Math.max(1, ...aggregateByTheme.themes.map((theme) => theme.count));
    byId("themes").replaceChildren(...aggregateByTheme.themes.map((theme) => themeBar(theme, largest)));
  } catch (error) {
    byId("corpus").textContent = error.message;
    byId("themes").replaceChildren();
  }
}

function monitorLine(monitor) {
  const state = monitor.paused ? "PAUSED" : monitor.state;
  const numbers = monitor.observed === null ? "" : ` · ${monitor.observed} of ${monitor.threshold} ${monitor.unit}`;
  const badge = element("span", { className: state === "FIRING" ? "badge firing" : "badge", textContent: state });
  const told = element("span", { className: "quiet", textContent: `${monitor.question}${numbers}${monitor.problem ? ` · ${monitor.problem}` : ""}` });
  return element("li", {}, badge, ` ${monitor.name} `, told);
}

function digestCard(digest) {
  const card = element("div", { className: "card digest", id: digest.digestId });
  const title = `${digest.monitorName}${digest.version > 1 ? ` (version ${digest.version})` : ""}`;
  card.append(
    element("span", { className: "badge", textContent: digest.severity }),
    element("strong", { textContent: ` ${title}` }),
    element("p", { textContent: digest.firedBecause }),
    element("p", { className: "quiet", textContent: `${digest.windowStart.slice(0, 16)} to ${digest.windowEnd.slice(0, 16)}` }),
    ...digest.claims.map(claimCard),
  );
  if (digest.refusal) card.append(element("p", { className: "quiet", textContent: `No verified text: ${digest.refusal.message}` }));
  const documents = digest.docIds.slice(0, 10).map((docId) => chip({ docId }));
  if (documents.length) card.append(element("div", { className: "chips" }, ...documents));
  return card;
}

async function showWatching() {
  try {
    const { monitors, digests } = await graphql(WATCHING + SHOWN);
    byId("watching").hidden = !monitors.monitors.length && !digests.digests.length;
    byId("monitors").replaceChildren(...monitors.monitors.map(monitorLine));
    byId("digests").replaceChildren(...digests.digests.map(digestCard));
  } catch (error) {
    byId("watching").hidden = true;
  }
}

async function showLinkedDigest() {
  const digestId = new URLSearchParams(location.hash.slice(1)).get("digest");
  if (!digestId) return;
  try {
    const { digest } = await graphql(DIGEST + SHOWN, { digestId });
    const gone = element("p", { className: "quiet", textContent: "There is no such digest for this tenant." });
    byId("result").replaceChildren(digest ? digestCard(digest) : gone);
  } catch (error) {
    showError(error);
  }
}

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  try {
    showRun((await graphql(ASK, { question: byId("question").value })).ask);
  } catch (error) {
    showError(error);
  } finally {
    button.disabled = false;
  }
});

byId("tenant").value = localStorage.getItem("tenant") ?? "";
byId("tenant").addEventListener("change", () => {
  localStorage.setItem("tenant", byId("tenant").value.trim());
  byId("result").replaceChildren();
  showOverview();
  showWatching();
});
window.addEventListener("hashchange", showLinkedDigest);
showOverview();
showWatching();
showLinkedDigest();
