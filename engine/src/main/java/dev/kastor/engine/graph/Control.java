package dev.kastor.engine.graph;

import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Control flow as nodes (Yu et al., EuroSys 2018, section 4, in the functional form): branches and
 * loops with bodies of their own, which {@link ControlFlow} builds.
 */
public sealed interface Control extends Op {
  /** The type of a history: its number within the run. */
  Type HISTORY = new Type(Shape.of(), DType.I32);

  /** One result of a node that has several. */
  record Part(int index) implements Control {
    /** Sees all results of its one input. */
    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(inputs.get(index));
    }
  }

  /** Nothing, once its inputs and what it comes after have taken place; it has no result. */
  record Group() implements Control {
    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of();
    }
  }

  /**
   * One of two bodies, decided by a scalar: {@code yes} if it is not 0. Inputs: the predicate, then
   * the operands. Results: those of the body, then the history of the branch.
   */
  record Cond(Body yes, Body no) implements Control {
    @Override
    public List<Type> results(List<Type> inputs) {
      List<Type> operands = inputs.subList(1, inputs.size());
      Inference.require(isScalar(inputs.getFirst()), this, "a scalar as predicate", inputs);
      Inference.require(
          yes.accepts().equals(operands) && no.accepts().equals(operands),
          this,
          "operands " + yes.accepts(),
          inputs);
      Inference.require(
          yes.types().equals(no.types()),
          this,
          "branches of one type, not %s and %s".formatted(yes.types(), no.types()),
          inputs);
      List<Type> results = new ArrayList<>(yes.types());
      results.add(HISTORY);
      return results;
    }

    @Override
    public String toString() {
      return "Cond" + yes.types();
    }
  }

  /**
   * A body repeated while a condition holds. Inputs: the carried values, then what is the same in
   * every iteration. Condition and body take all of them; the body gives the carried values of the
   * next iteration. Results: the last carried values, the number of iterations as a float, the
   * history of the loop.
   *
   * @param carried how many of the inputs change
   * @param parallelIterations how many iterations may be under way at once, at least 1
   */
  record While(Body condition, Body body, int carried, int parallelIterations) implements Control {
    @Override
    public List<Type> results(List<Type> inputs) {
      boolean fits = condition.accepts().equals(inputs) && body.accepts().equals(inputs);
      Inference.require(fits, this, "operands " + body.accepts(), inputs);
      Inference.require(
          condition.results().size() == 1 && isScalar(condition.types().getFirst()),
          this,
          "one scalar as condition, not " + condition.types(),
          inputs);
      List<Type> values = inputs.subList(0, carried);
      Inference.require(
          body.types().equals(values),
          this,
          "a body that gives what it carries, not " + body.types(),
          inputs);
      List<Type> results = new ArrayList<>(values);
      results.add(Type.f32());
      results.add(HISTORY);
      return results;
    }

    /** The number of the result that counts iterations. */
    public int countPart() {
      return carried;
    }

    /** The number of the result that is the history. */
    public int historyPart() {
      return carried + 1;
    }

    @Override
    public String toString() {
      return "While" + body.types();
    }
  }

  /**
   * What a node inside a body was in one iteration of one run of that body. Inputs: the history,
   * and the iteration, counted from 0, as a float; a branch has one. Whoever asks makes the body
   * keep the node's values; each is read once.
   *
   * @param inner a node of the body, or a part of one, with one result
   */
  record Recorded(Node inner) implements Control {
    @Override
    public List<Type> results(List<Type> inputs) {
      boolean fits =
          inputs.size() == 2 && inputs.getFirst().equals(HISTORY) && isScalar(inputs.get(1));
      Inference.require(fits, this, "a history and an iteration", inputs);
      return List.of(inner.type());
    }
  }

  private static boolean isScalar(Type type) {
    return type.equals(Type.f32());
  }
}
