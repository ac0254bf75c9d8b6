"use strict";

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function kind(schema) {
  if (schema.anyOf) return schema.anyOf.map(kind).filter((name) => name !== "null").join(" or ");
  if (schema.$ref) return schema.$ref.split("/").pop();
  return schema.type === "array" ? `list of ${kind(schema.items ?? {})}` : schema.type ?? "anything";
}

function fields(schema) {
  const list = element("ul");
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const required = (schema.required ?? []).includes(name) ? ", required" : "";
    list.append(element("li", {}, element("code", { textContent: name }), ` (${kind(field)}${required}) ${field.description ?? ""}`));
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
