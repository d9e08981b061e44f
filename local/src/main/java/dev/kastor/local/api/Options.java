package dev.kastor.local.api;

import org.jspecify.annotations.Nullable;

/**
 * How a write is done.
 *
 * @param status whether it goes to the status subresource
 * @param strict whether unknown fields are refused
 * @param dryRun whether it is only checked
 * @param applyAs the field manager of a server-side apply; null for other writes
 */
public record Options(boolean status, boolean strict, boolean dryRun, @Nullable String applyAs) {
  /** A plain write of the whole object. */
  public static final Options PLAIN = new Options(false, false, false, null);

  /** A write of the status. */
  public static final Options STATUS = new Options(true, false, false, null);
}
