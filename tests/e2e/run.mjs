// Runs the browser tests over the built page: `cargo xtask test --only e2e`, or, with a page already in
// dist/, `node tests/e2e/run.mjs [TOPIC]...`. Each topic is a file `<topic>.test.mjs` of this folder.
// It deliberately builds nothing.

import { readdir } from 'node:fs/promises';
import { Suite } from './harness.mjs';

const folder = new URL('.', import.meta.url);
const all = (await readdir(folder)).filter((name) => name.endsWith('.test.mjs')).sort();
const topics = all.map((name) => name.slice(0, -'.test.mjs'.length));
const asked = process.argv.slice(2);
const unknown = asked.filter((topic) => !topics.includes(topic));
if (unknown.length) {
  console.error(`there is no topic ${unknown.join(', ')}; there are: ${topics.join(', ')}`);
  process.exit(2);
}

const suite = await Suite.start();
try {
  for (const topic of asked.length ? asked : topics) {
    console.log(`\n${topic}`);
    try {
      const { default: tests } = await import(new URL(`${topic}.test.mjs`, folder));
      await tests(suite);
    } catch (error) {
      suite.fail(`${topic}: outside any check`, error);
    }
  }
} finally {
  await suite.stop();
}
console.log(`\n${suite.passed} passed, ${suite.failed} failed`);
process.exit(suite.failed || !suite.passed ? 1 : 0);
