package dev.kastor.engine.exec;

/** Something needs more memory than the cap of its device leaves. */
public final class MemoryCapException extends RuntimeException {
  private static final long serialVersionUID = 1;

  MemoryCapException(String who, long wantedBytes, long usedBytes, long capBytes) {
    super(
        "%s needs %,d bytes, but %,d of the cap of %,d bytes are in use."
            .formatted(who, wantedBytes, usedBytes, capBytes));
  }
}
