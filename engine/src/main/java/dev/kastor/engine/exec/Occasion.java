package dev.kastor.engine.exec;

/** What an action can reach in one iteration of one run. */
record Occasion(Memory memory, String run, Iteration iteration) implements Surroundings {
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
