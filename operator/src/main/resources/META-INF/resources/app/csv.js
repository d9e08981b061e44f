// The report of usage as CSV, as `kastor report -o csv` prints it.

const PARTS = ["held", "useful", "inefficient", "starting", "rescaling", "failures", "unknown"];

/** GPU-seconds to the millisecond, the cost to the millionth. */
export function csvOf(by, report) {
  const lines = [[by, ...PARTS, "cost", "unpriced"]];
  for (const row of report.rows) {
    lines.push([quoted(row.name), ...PARTS.map((part) => fixed(row[part], 3)), fixed(row.costMicros, 6), fixed(row.unpriced, 3)]);
  }
  return lines.map((line) => `${line.join(",")}\n`).join("");
}

/** A whole number of thousandths or millionths as a decimal number, exactly. */
function fixed(value, digits) {
  const text = String(value).padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** A spreadsheet takes what begins with a sign for a formula. */
function quoted(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[,"\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
