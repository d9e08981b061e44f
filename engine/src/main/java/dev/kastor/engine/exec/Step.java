package dev.kastor.engine.exec;

import java.util.ArrayList;
import java.util.List;

/** One unit of a plan; the edges that leave it say who gets its results. */
final class Step {
  /** Where a result goes. */
  record Target(Step step, int slot) {}

  /** A result of a step. */
  record Edge(Step step, int result) {}

  final Work work;
  final FrameDef frame;
  final int number;
  final int firstSlot;
  final int slots;
  final List<List<Target>> targets = new ArrayList<>();
  final List<Step> earlierThan = new ArrayList<>();
  int pending;

  Step(Work work, FrameDef frame, int slots, int results) {
    this.work = work;
    this.frame = frame;
    this.slots = slots;
    this.number = frame.steps.size();
    this.firstSlot = frame.slots;
    frame.steps.add(this);
    frame.slots += slots;
    for (int i = 0; i < results; i++) {
      targets.add(new ArrayList<>());
    }
  }

  /** The value on this edge arrives in a slot, which is waited for. */
  void takes(int slot, Edge edge) {
    edge.step.targets.get(edge.result).add(new Target(this, slot));
    pending++;
  }

  /** The value on this edge may arrive in a slot instead of another. */
  void mayTake(int slot, Edge edge) {
    edge.step.targets.get(edge.result).add(new Target(this, slot));
  }

  void waitsFor(Step earlier) {
    earlier.earlierThan.add(this);
    pending++;
  }

  @Override
  public String toString() {
    return work.toString();
  }
}
