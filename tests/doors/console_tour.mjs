// Opens the console in a real browser, asks, opens a citation, and reports what was seen as one JSON object.
// Arguments: path of the browser, address, tenant, question answered, question refused, id of a digest, folder for screenshots (optional).
import { chromium } from "playwright-core";

const [executablePath, base, tenant, answered, refused, digest, folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const seen = { errors: [], foreign: [] };

async function opened(path, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !url.startsWith("data:") && !url.startsWith("blob:")) seen.foreign.push(url);
  });
  await page.addInitScript((name) => localStorage.setItem("tenant", name), tenant);
  await page.goto(base + path);
  return page;
}

async function shot(page, name) {
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

async function ask(page, question) {
  await page.fill("#question", question);
  await page.click("#form button");
  await page.waitForSelector("#result details");
}

for (const [name, options] of [
  ["wide", { viewport: { width: 1280, height: 900 } }],
  ["narrow-dark", { viewport: { width: 375, height: 800 }, colorScheme: "dark" }],
]) {
  const page = await opened("/", options);
  await page.waitForSelector(".bar");
  await page.waitForSelector(".digest .claim, .digest .quiet");
  seen.monitors = await page.locator("#monitors .badge").allTextContents();
  seen.digests = await page.locator("#digests .digest > p:first-of-type").allTextContents();
  seen.cited = await page.locator("#digests .chip").allTextContents();
  seen.themes = await page.locator(".bar .name").allTextContents();
  await ask(page, answered);
  seen.claims = await page.locator("#result .claim > p").allTextContents();
  await shot(page, `${name}-answer`);
  await page.locator("#result .claim .chip").first().click();
  await page.waitForSelector("#reader[open] mark");
  seen.marked = await page.locator("#reader mark").textContent();
  seen.markup = await page.locator("main b, #reader-text b, main script").count();
  await shot(page, `${name}-document`);
  await page.keyboard.press("Escape");
  await ask(page, refused);
  seen.refusal = await page.locator(".refusal p").first().textContent();
  seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  await shot(page, `${name}-refusal`);
  await page.context().close();
}

const linked = await opened(`/#digest=${digest}`);
await linked.waitForSelector("#result .digest");
seen.linked = await linked.locator("#result .digest").getAttribute("id");

const reference = await opened("/docs");
await reference.waitForSelector("#routes .card");
seen.routes = await reference.locator("#routes .card strong").allTextContents();
await shot(reference, "reference");

const explorer = await opened("/graphiql", { viewport: { width: 1280, height: 900 } });
await explorer.waitForSelector(".graphiql-execute-button");
await explorer.click(".graphiql-execute-button");
await explorer.waitForFunction(() => document.querySelector(".result-window")?.textContent.includes("refused"));
await shot(explorer, "explorer");
seen.explorer = await explorer.locator(".graphiql-execute-button").count();

await browser.close();
console.log(JSON.stringify(seen));
