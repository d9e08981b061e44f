package dev.kastor.protocol;

import dev.kastor.text.PrintableText;
import org.jspecify.annotations.Nullable;

/**
 * What a replica says of itself each time it polls for membership.
 *
 * <p>Sent as query parameters {@code pod, address, generation, phase, step, waiting, doing, client,
 * mostExamples, start} beside {@code wait} (seconds, at most 30).
 *
 * @param pod its pod's name
 * @param address {@code host:port} of its ring listener
 * @param generation the generation it is in; 0 before its first. The answer waits for a newer one
 * @param phase what it does
 * @param step optimizer steps in its state; -1 without state
 * @param waiting in training: whether it waits for the other members rather than computes. Where
 *     all others wait for long, the one that does not is the one that hangs
 * @param doing what it is busy with, which may make no step for long
 * @param client names and versions of its software, as in {@code kastor-python/0.1 protocol/2
 *     torch/2.15}; empty where it does not say. Cut to {@link #MAX_CLIENT_CHARS} printable
 *     characters
 * @param mostExamples largest batch of a pass that fits its device; 0 where it does not know
 * @param start how its start ended; null before its first step, and where it does not say
 */
public record ReplicaState(
    String pod,
    String address,
    long generation,
    Phase phase,
    long step,
    boolean waiting,
    Doing doing,
    String client,
    int mostExamples,
    @Nullable ReplicaStart start) {
  /** Longest name of a client that is kept. */
  public static final int MAX_CLIENT_CHARS = 120;

  /** What a replica does. */
  public enum Phase {
    /** Loading data and warming up kernels; must not be made a member yet. */
    STARTING,
    /** Warm and listening; may become a member. */
    READY,
    /** A member in training. */
    TRAINING,
    /** A member whose ring broke; it waits for the next generation. */
    BROKEN
  }

  /** Work of a replica. All but training may take long without a step. */
  public enum Doing {
    /** Computes steps, or waits for the others to. */
    TRAIN("computes"),
    /** Measures the model on data that it does not train on. */
    EVALUATE("evaluates"),
    /** Writes a checkpoint or an export. */
    SAVE("saves"),
    /** Reads data or a checkpoint. */
    LOAD("loads"),
    /** Compiles kernels. */
    COMPILE("compiles");

    private final String verb;

    Doing(String verb) {
      this.verb = verb;
    }

    /** The verb of a sentence about the replica. */
    public String verb() {
      return verb;
    }
  }

  /** A replica that waits for nobody. */
  public ReplicaState(String pod, String address, long generation, Phase phase, long step) {
    this(pod, address, generation, phase, step, false, Doing.TRAIN);
  }

  /** A replica that says nothing of its start. */
  public ReplicaState(
      String pod,
      String address,
      long generation,
      Phase phase,
      long step,
      boolean waiting,
      Doing doing,
      String client,
      int mostExamples) {
    this(pod, address, generation, phase, step, waiting, doing, client, mostExamples, null);
  }

  /** A replica that says neither what it runs nor what fits it. */
  public ReplicaState(
      String pod,
      String address,
      long generation,
      Phase phase,
      long step,
      boolean waiting,
      Doing doing) {
    this(pod, address, generation, phase, step, waiting, doing, "", 0);
  }

  public ReplicaState {
    Check.atLeast("generation", generation, 0);
    Check.between("step", step, -1, Check.MOST_COUNTED);
    Check.atLeast("mostExamples", mostExamples, 0);
    String printable = PrintableText.line(client).strip();
    client = printable.substring(0, Math.min(printable.length(), MAX_CLIENT_CHARS)).strip();
  }
}
