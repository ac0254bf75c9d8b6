"use strict";

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function bare(schema) {
  return schema.anyOf ? schema.anyOf.find((branch) => branch.type !== "null") ?? schema : schema;
}

function kind(schema) {
  const { type, items } = bare(schema);
  return type === "array" ? `list of ${kind(items ?? {})}` : type ?? "anything";
}

function fields(schema) {
  const list = element("ul");
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const required = (schema.required ?? []).includes(name) ? ", required" : "";
    const item = element("li", {}, element("code", { textContent: name }), ` (${kind(field)}${required}) ${field.description ?? ""}`);
    if (bare(field).properties) item.append(fields(bare(field)));
    list.append(item);
  }
  return list;
}

function route(path, method, operation) {
  const card = element("div", { className: "card" });
  card.append(element("strong", { textContent: `${method.toUpperCase()} ${path}` }), element("p", { textContent: operation.summary ?? "" }));
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  if (body) card.append(element("p", { className: "quiet", textContent: "Body, as JSON:" }), fields(body));
  return card;
}

async function show() {
  const { paths } = await (await fetch("/openapi.json")).json();
  const cards = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => route(path, method, operation)));
  document.getElementById("routes").replaceChildren(...cards);
}

show();
