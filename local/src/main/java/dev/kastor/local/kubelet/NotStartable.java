package dev.kastor.local.kubelet;

/** Reason why a pod cannot be started: at this moment, or ever. */
final class NotStartable extends Exception {
  private static final long serialVersionUID = 1;

  private final boolean ever;

  private NotStartable(String message, boolean ever) {
    super(message);
    this.ever = ever;
  }

  /** Something is missing that may come; starting is tried again. */
  static NotStartable now(String message) {
    return new NotStartable(message, false);
  }

  /** The pod itself is wrong; trying again would not help. */
  static NotStartable ever(String message) {
    return new NotStartable(message, true);
  }

  boolean ever() {
    return ever;
  }
}
