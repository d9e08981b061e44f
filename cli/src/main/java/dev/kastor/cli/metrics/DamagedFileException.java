package dev.kastor.cli.metrics;

/** A file that is not what its name says, or no longer; the message says where. */
final class DamagedFileException extends Exception {
  private static final long serialVersionUID = 1;

  DamagedFileException(String message) {
    super(message);
  }
}
