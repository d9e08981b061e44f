package dev.kastor.e2e.fault;

import java.io.IOException;
import java.time.Duration;

/**
 * Something that is broken now.
 *
 * @param what a sentence for people
 * @param node the node that it happens to; empty if it is not a node's
 * @param lasts how long it is to stay broken
 * @param mend makes it whole again; nothing to do where it heals by itself
 */
public record Wound(String what, String node, Duration lasts, Mend mend) {
  /** How something is made whole. */
  public interface Mend {
    /** Makes it so. */
    void run() throws IOException, InterruptedException;
  }

  /** One that heals by itself. */
  static Wound passing(String what) {
    return new Wound(what, "", Duration.ZERO, () -> {});
  }
}
