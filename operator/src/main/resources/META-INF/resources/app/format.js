// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const mark = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const shortMark = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const LARGE = 1e9;
const SMALL = 1e-3;

export const NONE = "–";

const isKnown = (value) => Number.isFinite(value);
const isExtreme = (size) => size >= LARGE || (size > 0 && size < SMALL);

/** With a power of ten, as the command line writes it: 2.10e+29. */
function power(value, digits) {
  return value.toExponential(digits).replace(/(?<=e[+-])\d$/, "0$&");
}

export function count(value) {
  return isKnown(value) ? whole.format(value) : NONE;
}

/**
 * A rate or a loss: whole from 100 on, a tenth from 10 on, three digits below, and very large and
 * very small ones with a power of ten; a dash for one that is not known or not finite.
 */
export function measure(value) {
  if (!isKnown(value)) {
    return NONE;
  }
  const size = Math.abs(value);
  if (isExtreme(size)) {
    return power(value, 2);
  }
  return size >= 100 ? whole.format(value) : size >= 10 ? tenths.format(value) : significant.format(value);
}

/** A mark on an axis, short enough for the margin: 2,500, 25K, 2e+29. */
export function tick(value) {
  const size = Math.abs(value);
  if (isExtreme(size)) {
    return power(Number(value.toPrecision(3)), undefined);
  }
  return (size >= 10000 ? shortMark : mark).format(value);
}

/** A fraction with three or four digits, for metrics. */
export function metric(value) {
  return isKnown(value) && Math.abs(value) < 10 && !isExtreme(Math.abs(value)) ? value.toFixed(3) : measure(value);
}

/** GPU-hours: a tenth from 100 on, hundredths from 1 on, thousandths below. */
export function hours(value) {
  const digits = value >= 100 ? 1 : value >= 1 ? 2 : value > 0 ? 3 : 0;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function money(value) {
  return value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

export function percent(fraction) {
  return isKnown(fraction) ? `${whole.format(fraction * 100)} %` : NONE;
}

export function duration(millis) {
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (seconds < 60) {
    return `${seconds} s`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min ${seconds % 60} s`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function pause(millis) {
  return millis < 1000 ? `${whole.format(millis)} ms` : `${tenths.format(millis / 1000)} s`;
}

export function clock(millis) {
  return new Date(millis).toLocaleTimeString("en-GB");
}

/** The clock, with the day where it is not today's. */
export function moment(millis) {
  const at = new Date(millis);
  const today = new Date().toDateString() === at.toDateString();
  return today ? clock(millis) : `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${clock(millis)}`;
}

export function range(from, to) {
  return from === to ? whole.format(from) : `${whole.format(from)}–${whole.format(to)}`;
}

export function plural(n, one, many = `${one}s`) {
  return `${whole.format(n)} ${n === 1 ? one : many}`;
}
