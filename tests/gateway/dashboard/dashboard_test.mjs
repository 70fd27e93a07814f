// The dashboard in Chromium, over a gateway under load.
//   KVASIR_DASHBOARD    its address
//   KVASIR_CHROMIUM     the browser's program
//   KVASIR_WORKER_PID   the process of a worker, which is killed
//   KVASIR_WORKER       that worker's id
//   KVASIR_SCREENSHOTS  a folder for pictures of the page; none are made if it is empty
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import axe from "axe-core";
import puppeteer from "puppeteer-core";

const PATIENCE_MS = 60_000 * Number(process.env.KVASIR_TEST_PATIENCE ?? 1);
const WIDE = { width: 1280, height: 1100 };
const NARROW = { width: 360, height: 800 };

let browser;
let page;
const errors = [];

before(async () => {
  browser = await puppeteer.launch({
    executablePath: process.env.KVASIR_CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"], // tests may run as root
    timeout: PATIENCE_MS,
  });
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
  await page.setViewport(WIDE);
  await page.goto(process.env.KVASIR_DASHBOARD);
  await page.waitForFunction(() => document.querySelectorAll("#b-decisions tr").length > 20);
});

after(() => browser?.close());

const textOf = (selector) => page.$eval(selector, (node) => node.textContent);

async function changes(selector) {
  const first = await textOf(selector);
  await page.waitForFunction(
    (of, before) => document.querySelector(of).textContent !== before,
    {},
    selector,
    first,
  );
}

test("live values change", async () => {
  await changes("#b-decisions tr:first-child");
  await changes("#b-ranks");
  await changes("#d-first");
  await page.waitForFunction(() =>
    /^\d+\.\d$/.test(document.querySelector("#t-rate").textContent),
  );
  assert.match(await textOf("#t-first"), /ms \/ .* ms$/);
});

test("other routers are compared", async () => {
  await page.waitForFunction(() => document.querySelectorAll("#b-shadows tr").length === 2);
  const rows = await page.$$eval("#b-shadows tr", (all) => all.map((row) => row.innerText));
  assert.match(rows.join("\n"), /projected \(serves\)/);
  assert.match(rows.join("\n"), /cost/);
  await changes("#b-shadows td:nth-child(3)"); // requests
  assert.match(await textOf("#b-shadows td:nth-child(4)"), /%$/);
});

/** What has the focus, and whether one can see that. */
const focused = () =>
  page.evaluate(() => {
    const node = document.activeElement;
    const style = getComputedStyle(node);
    return {
      name: node.id || node.getAttribute("aria-label") || node.textContent,
      seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    };
  });

test("the keyboard reaches and uses everything", async () => {
  await page.keyboard.press("Tab");
  assert.equal((await focused()).name, "Skip to the ranks");
  await page.keyboard.press("Enter");
  assert.equal((await focused()).name, "ranks");
  await page.focus(".skip");
  const order = ["Skip to the ranks"];
  while (order.length < 12) {
    await page.keyboard.press("Tab");
    const { name, seen } = await focused();
    assert.ok(seen, `the focus of '${name}' can be seen`);
    order.push(name);
  }
  assert.deepEqual(order, [
    "Skip to the ranks",
    "pause",
    "f-ranks",
    "Table of ranks",
    "Table of event streams",
    "Table of routers",
    "f-id",
    "Table of decisions",
    "decisions",
    "ranks",
    "workers",
    "metrics",
  ]);
  await page.focus("#pause");
  await page.keyboard.press("Space");
  assert.match(await textOf("#link"), /^paused at/);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.querySelector("#link").textContent === "live");
  await page.focus("#f-ranks");
  await page.keyboard.type("no such rank");
  await page.waitForFunction(() => !document.querySelector("#no-ranks").hidden);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
  await page.waitForFunction(() => document.querySelector("#no-ranks").hidden);
});

async function violations() {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(
    (each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => node.html).slice(0, 3)}`,
  );
}

for (const scheme of ["light", "dark"]) {
  for (const [name, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    test(`${scheme}, ${name}: it fits and is accessible`, async () => {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setViewport(viewport);
      const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(width <= viewport.width, `${width} pixels of ${viewport.width}`);
      const dark = await page.evaluate(() => {
        const [red, green, blue] = getComputedStyle(document.body)
          .backgroundColor.match(/\d+/g)
          .map(Number);
        return red + green + blue < 384;
      });
      assert.equal(dark, scheme === "dark");
      assert.deepEqual(await violations(), []);
      const folder = process.env.KVASIR_SCREENSHOTS;
      if (folder && (scheme === "light") === (name === "wide")) {
        const file = name === "wide" ? "dashboard.png" : "dashboard-narrow.png";
        await page.screenshot({ path: path.join(folder, file) });
      }
    });
  }
}

test("a killed rank shows", async () => {
  await page.setViewport(WIDE);
  const worker = process.env.KVASIR_WORKER;
  const state = (id) =>
    [...document.querySelectorAll("#b-ranks tr")]
      .filter((row) => row.children[0].textContent.startsWith(id))
      .map((row) => row.children[1].textContent)
      .join();
  assert.match(await page.evaluate(state, worker), /^healthy/);
  const killedMs = performance.now();
  process.kill(Number(process.env.KVASIR_WORKER_PID), "SIGKILL");
  await page.waitForFunction(`!(${state})(${JSON.stringify(worker)}).startsWith("healthy")`, {
    polling: 50,
  });
  console.log(`a killed rank shows after ${Math.round(performance.now() - killedMs)} ms`);
  await page.waitForFunction( // by the next health check
    (id) => document.querySelector("#problems").textContent.includes(id),
    {},
    worker,
  );
});

test("the page has reported no error", () => {
  assert.deepEqual(errors, []);
});
