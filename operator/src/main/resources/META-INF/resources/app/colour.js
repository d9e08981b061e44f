// How jobs are told apart: eight colours, and in each of them four patterns.

const COLOURS = 8;
const PATTERNS = 4;
const LOOKS = COLOURS * PATTERNS;
const assigned = new Map();

/** Gives up the looks of jobs that are shown no more. */
export function keepLooks(keys) {
  const kept = new Set(keys);
  [...assigned.keys()].filter((key) => !kept.has(key)).forEach((key) => assigned.delete(key));
}

/**
 * A number from 0 to 31 that the job keeps while it is shown: the first that fewest others have, so
 * that of 32 jobs no two look the same. The first eight are plain.
 */
export function lookOf(key) {
  if (!assigned.has(key)) {
    const uses = Array(LOOKS).fill(0);
    assigned.forEach((look) => uses[look]++);
    assigned.set(key, uses.indexOf(Math.min(...uses)));
  }
  return assigned.get(key);
}

const colourOf = (key) => `--job-${(lookOf(key) % COLOURS) + 1}`;
const patternOf = (key) => Math.floor(lookOf(key) / COLOURS);

/** The value of a custom property, for the canvas. */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function jobColour(key) {
  return token(colourOf(key));
}

/** The job's pattern for areas on a canvas, as the style sheet has it; none for a plain one. */
export function jobDecal(key) {
  const shape = [
    null,
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 },
    { symbol: "circle", dashArrayX: [[3, 3]], dashArrayY: [3, 3] },
    { symbol: "rect", dashArrayX: [2, 4], dashArrayY: [1, 0], rotation: 0 },
  ][patternOf(key)];
  return shape && { ...shape, symbolSize: 1, color: token("--surface") };
}

/** Lets the style sheet colour everything inside by the job. */
export function paint(node, key) {
  node.style.setProperty("--job", `var(${colourOf(key)})`);
  node.style.setProperty("--job-pattern", `var(--pattern-${patternOf(key)})`);
}
