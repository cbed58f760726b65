// @ts-check
'use strict';

const NAME = 'bythebook-docusaurus';
const BOOK = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const HEADER = /^[\x21-\x7e]+$/; // what a header can carry, as a key must be
/** @type {Readonly<Record<string, readonly string[]>>} */
const CHOICES = {
  mode: ['floating', 'inline'],
  corner: ['start', 'end'],
  selection: ['on', 'off'],
  shortcut: ['on', 'off'],
};
const TEXTS = ['label'];
const KNOWN = ['service', 'book', 'key', ...Object.keys(CHOICES), ...TEXTS, 'strings', 'id'];
const EXAMPLE = `['${NAME}', {service: 'https://ask.example.org', book: 'my-book', key: 'btb_…'}]`;

/**
 * Puts the widget's script into every page. Docusaurus goes from page to page without loading them
 * again; the widget stands next to its root, so it stays, with what was asked.
 *
 * @param {unknown} _context
 * @param {import('./index').Options} options
 */
function bythebook(_context, options) {
  const attributes = scriptAttributes(validated(options));
  return {
    name: NAME,
    injectHtmlTags() {
      return {headTags: [{tagName: 'script', attributes}]};
    },
  };
}

/** @param {{options: unknown}} given What Docusaurus hands over before it makes the plugin. */
bythebook.validateOptions = ({options}) => validated(options);

/**
 * Check the options, or say which is wrong and how to put it right.
 *
 * @param {unknown} given
 * @returns {import('./index').Options}
 */
function validated(given) {
  if (typeof given !== 'object' || given === null) wrong('needs options', `Write: ${EXAMPLE}`);
  const options = /** @type {Record<string, unknown>} */ (given);
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown) wrong(`does not know the option "${unknown}"`, `It knows: ${KNOWN.join(', ')}.`);
  requireAddress(options.service);
  if (typeof options.book !== 'string' || !BOOK.test(options.book)) {
    wrong('needs the option "book"', 'Give the id of the book: `bythebook books list` shows those there are.');
  }
  requireKey(options.key);
  for (const [name, values] of Object.entries(CHOICES)) {
    const value = options[name];
    if (value !== undefined && !values.includes(/** @type {string} */ (value))) {
      wrong(`cannot use the option "${name}"`, `Choose one of: ${values.join(', ')}.`);
    }
  }
  for (const name of TEXTS) {
    if (options[name] !== undefined && typeof options[name] !== 'string') {
      wrong(`cannot use the option "${name}"`, 'Give a text.');
    }
  }
  requireStrings(options.strings);
  return /** @type {import('./index').Options} */ (given);
}

/** @param {unknown} service */
function requireAddress(service) {
  const fix = 'Give the address of your service, as in https://ask.example.org.';
  /** @type {URL} */
  let url;
  try {
    url = new URL(String(service ?? ''));
  } catch {
    return wrong('needs the option "service"', fix);
  }
  if (!['http:', 'https:'].includes(url.protocol)) wrong('needs the option "service" to begin with https://', fix);
  if (url.username || url.password || url.search || url.hash) wrong('takes no name, password, ? or # in "service"', fix);
}

/** @param {unknown} key */
function requireKey(key) {
  if (key === undefined || key === '') return; // a service on your own machine may need none
  if (typeof key !== 'string' || !HEADER.test(key)) {
    wrong('cannot use the option "key"', 'Make one for your site: `bythebook keys create --scope ask --origin https://your.site`.');
  }
}

/** @param {unknown} strings */
function requireStrings(strings) {
  if (strings === undefined) return;
  const isPlain = typeof strings === 'object' && strings !== null && !Array.isArray(strings);
  if (!isPlain || Object.values(strings).some((text) => typeof text !== 'string')) {
    wrong('cannot use the option "strings"', 'Give an object of texts by name, as {title: "Ask the book"}.');
  }
}

/**
 * @param {import('./index').Options} options
 * @returns {Record<string, string | boolean>}
 */
function scriptAttributes(options) {
  const base = options.service.endsWith('/') ? options.service : `${options.service}/`;
  /** @type {Record<string, string | boolean>} */
  const attributes = {src: new URL('widget.js', base).href, async: true, 'data-book': options.book};
  for (const name of /** @type {const} */ (['key', 'mode', 'corner', 'selection', 'shortcut', 'label'])) {
    const value = options[name];
    if (value) attributes[`data-${name}`] = value;
  }
  if (options.strings) attributes['data-strings'] = JSON.stringify(options.strings);
  return attributes;
}

/**
 * @param {string} what
 * @param {string} fix
 * @returns {never}
 */
function wrong(what, fix) {
  throw new Error(`${NAME} ${what}. ${fix}`);
}

module.exports = bythebook;
