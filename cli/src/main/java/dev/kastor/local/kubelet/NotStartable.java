package dev.kastor.local.kubelet;

/** Why a pod cannot be started now; starting is tried again. */
final class NotStartable extends Exception {
  private static final long serialVersionUID = 1;

  NotStartable(String message) {
    super(message);
  }
}
