package dev.kastor.engine.exec;

import java.util.function.Supplier;

/** What an action can reach in one iteration of one run. */
record Occasion(Memory memory, States states, String run, Iteration iteration)
    implements Surroundings {
  @Override
  public <S> S state(Resource<S> resource, Supplier<S> first) {
    return states.state(resource, first);
  }

  @Override
  public String iterations() {
    StringBuilder path = new StringBuilder();
    Iteration inner = iteration;
    for (Iteration outer = inner.frame.parent; outer != null; outer = inner.frame.parent) {
      path.insert(0, "/" + inner.number);
      inner = outer;
    }
    return path.toString();
  }
}
