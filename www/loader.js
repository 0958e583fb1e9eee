// Starts the page: fetches the bindings and the WebAssembly beside this file and runs them.
// It deliberately knows nothing of the page itself; it only says so when the page cannot start.

const WORDS = {
  en: {
    failed: 'The simulator could not be started.',
    old: 'This browser has no WebAssembly. Any browser of the last few years has it.',
    advice: 'Reload the page. If it stays like this, the server may be missing a file, or the connection was cut.',
    detail: 'What the browser said:',
  },
  zh: {
    failed: '模拟器无法启动。',
    old: '此浏览器不支持 WebAssembly。近几年的浏览器都支持。',
    advice: '请重新加载页面。如果仍然如此，可能是服务器缺少文件，或者连接中断。',
    detail: '浏览器的提示：',
  },
};

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function explain(advice, error, words, lang) {
  const main = element('main', '', { class: 'boot', lang, 'data-state': 'failed' });
  const alert = element('div', '', { role: 'alert' });
  alert.append(element('p', words.failed), element('p', advice));
  main.append(element('h1', 'Highwater'), alert);
  if (error) {
    main.append(element('p', words.detail), element('pre', String(error.message || error), { tabindex: '0' }));
  }
  document.getElementById('app').replaceChildren(main);
}

async function start() {
  const lang = (navigator.language || 'en').toLowerCase().startsWith('zh') ? 'zh' : 'en';
  const words = WORDS[lang];
  if (typeof WebAssembly !== 'object') {
    explain(words.old, null, words, lang);
    return;
  }
  try {
    const program = await import('./highwater-page.js');
    await program.default();
    // The benchmarks reach the program's `bench_*` exports through this, and only when asked to.
    if (new URLSearchParams(location.search).has('bench')) window.__hw_bench = program;
  } catch (error) {
    // A program that has stopped has said so itself, and knows more.
    if (!document.getElementById('panic')) explain(words.advice, error, words, lang);
    // Again for those who look there: a failure is never only on the screen.
    console.error(error);
  }
}

start();
