// One colour per job for as long as the page is open, in order of submission.

const COLOURS = 8;
const assigned = new Map();

/** A number from 1 to 8. */
export function colourIndex(key) {
  if (!assigned.has(key)) {
    assigned.set(key, (assigned.size % COLOURS) + 1);
  }
  return assigned.get(key);
}

/** The value of a custom property, for the canvas. */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function jobColour(key) {
  return token(`--job-${colourIndex(key)}`);
}

/** Lets the style sheet colour everything inside by the job. */
export function paint(node, key) {
  node.style.setProperty("--job", `var(--job-${colourIndex(key)})`);
}
