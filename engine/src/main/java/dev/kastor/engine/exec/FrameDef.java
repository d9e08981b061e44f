package dev.kastor.engine.exec;

import java.util.ArrayList;
import java.util.List;

/** The steps of the whole plan outside loops, or those of one loop. */
final class FrameDef {
  final int parallelIterations;
  final List<Step> steps = new ArrayList<>();
  final List<Step> exits = new ArrayList<>();
  int slots;
  int enters;

  FrameDef(int parallelIterations) {
    this.parallelIterations = parallelIterations;
  }
}
