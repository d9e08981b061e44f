package dev.kastor.engine.partition;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import java.util.List;

/**
 * Does nothing. A branch or loop on several devices comes after one on each of them, for on each it
 * needs what it is handed on the others.
 */
record Depth(int depth) implements Action {
  @Override
  public List<Type> results(List<Type> inputs) {
    return List.of();
  }

  @Override
  public List<Value> run(List<Value> inputs, Surroundings surroundings) {
    return List.of();
  }
}
