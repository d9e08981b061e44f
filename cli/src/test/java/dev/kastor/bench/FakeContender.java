package dev.kastor.bench;

import java.util.List;

/** A side whose steps take as long as a test says, and which writes down when it worked. */
final class FakeContender implements Contender {
  private final Start start;
  private final double stepsPerSecond;
  private final List<String> journal;
  private int windows;

  FakeContender(String library, long parameters, double stepsPerSecond, List<String> journal) {
    this.start = new Start(library, "cpu", parameters, 1.5);
    this.stepsPerSecond = stepsPerSecond;
    this.journal = journal;
  }

  @Override
  public Start started() {
    return start;
  }

  /** Each window has a tenth more steps than the one before. */
  @Override
  public Window measure(double seconds) {
    journal.add(start.library());
    long steps = Math.round(stepsPerSecond * seconds * (1 + 0.1 * windows++));
    return new Window(steps, seconds, seconds / 2, 100_000_000L + windows, 0.25);
  }

  @Override
  public void close() {
    journal.add(start.library() + " ended");
  }
}
