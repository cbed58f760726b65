// Builds the scripts of the pages: node build.mjs [--out DIR]
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const asked = process.argv.indexOf("--out");
const out = asked < 0 ? join(here, "../src/bythebook/web") : resolve(process.argv[asked + 1] ?? ".");
const entries = ["widget", "reader", "admin"].filter((name) => existsSync(join(here, "src", name, "index.ts")));

mkdirSync(out, { recursive: true });
await Promise.all(
  entries.map((name) =>
    build({
      absWorkingDir: here, // so that nothing of the machine gets into the output
      entryPoints: [`src/${name}/index.ts`],
      outfile: join(out, `${name}.js`),
      bundle: true,
      minify: true,
      format: "iife",
      target: "es2022",
      charset: "utf8",
      legalComments: "none",
      logLevel: "warning",
    }),
  ),
);
const sizes = entries.map((name) => {
  const size = gzipSync(readFileSync(join(out, `${name}.js`)), { level: 9 }).length;
  return `${name}.js (${(size / 1024).toFixed(1)} KB gzipped)`;
});
console.log(`built ${sizes.join(", ")}`);
