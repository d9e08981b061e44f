package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.cuda.Ptx.Kind;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive.Reduce;
import java.util.function.Predicate;

/** Kernels of which each thread writes one element at most. */
final class Loops {
  private static final int THREADS = 256;
  private static final int WARP = 32;

  private final Predicate<Node> buffered;

  Loops(Predicate<Node> buffered) {
    this.buffered = buffered;
  }

  /** Writes what a node's op makes of its operands, element by element. */
  Launch elementwise(String name, Node node) {
    Ptx ptx = new Ptx(name, THREADS);
    Elements elements = new Elements(ptx, other -> other != node && buffered.test(other));
    int count = node.shape().elements();
    String index = number(ptx);
    String end = ptx.label();
    ptx.emitIf(ptx.get(Kind.TRUTH, "setp.ge.u32", index, count), "bra", end);
    String value = elements.at(node, index);
    ptx.emit(
        node.isFloat() ? "st.global.f32" : "st.global.u32",
        "[" + ptx.address(node, index) + "]",
        value);
    ptx.place(end);
    return Launch.of(ptx, blocks(count), 1, 1);
  }

  /**
   * Folds axes away: the threads of a block share the elements of one result, or of several. In the
   * same order each time, so that the same bits come out.
   */
  Launch reduce(String name, Reduce reduce, Node node) {
    Ptx ptx = new Ptx(name, THREADS);
    Elements elements = new Elements(ptx, buffered);
    Node operand = node.input(0);
    int count = node.shape().elements();
    int folded = operand.shape().elements(reduce.from(), reduce.to());
    int inner = operand.shape().elements(reduce.to(), operand.shape().rank());
    int sharing = sharing(count, folded, inner);
    int results = THREADS / sharing;
    String thread = ptx.get(Kind.WORD, "mov.u32", "%tid.x");
    // Neighbours read neighbours: along the folded axis if that is the last one.
    String share =
        inner == 1 ? elements.remainder(thread, sharing) : elements.divide(thread, results);
    String which =
        inner == 1 ? elements.divide(thread, sharing) : elements.remainder(thread, results);
    String block = ptx.get(Kind.WORD, "mov.u32", "%ctaid.x");
    String result = elements.add(elements.multiply(block, results), which);
    String exists = ptx.get(Kind.TRUTH, "setp.lt.u32", result, count);
    String outer = elements.multiply(elements.divide(result, inner), folded * inner);
    String first = elements.add(outer, elements.remainder(result, inner));

    String sum = ptx.register(Kind.FLOAT);
    ptx.emit("mov.f32", sum, identity(reduce.kind()));
    String at = ptx.register(Kind.WORD);
    ptx.emit("selp.u32", at, share, folded, exists);
    String loop = ptx.label();
    String done = ptx.label();
    ptx.place(loop);
    elements.forget();
    ptx.emitIf(ptx.get(Kind.TRUTH, "setp.ge.u32", at, folded), "bra", done);
    String value = elements.at(operand, elements.add(first, elements.multiply(at, inner)));
    ptx.emit("mov.f32", sum, fold(ptx, elements, reduce.kind(), sum, value));
    ptx.emit("add.u32", at, at, sharing);
    ptx.emit("bra", loop);
    ptx.place(done);
    elements.forget();

    String writes = exists;
    if (sharing > 1) {
      halve(ptx, elements, reduce.kind(), sum, thread, share, sharing, inner == 1 ? 1 : results);
      String leads = ptx.get(Kind.TRUTH, "setp.eq.u32", share, "0");
      writes = ptx.get(Kind.TRUTH, "and.pred", leads, exists);
    }
    ptx.emitIf(writes, "st.global.f32", "[" + ptx.address(node, result) + "]", sum);
    return Launch.of(ptx, Math.ceilDiv(count, results), 1, 1);
  }

  /** How many threads share the elements of a result, a power of two. */
  private static int sharing(int count, int folded, int inner) {
    if (folded < WARP || count >= THREADS * THREADS) {
      return inner == 1 && folded >= WARP ? WARP : 1;
    }
    return inner == 1 ? THREADS : THREADS / WARP;
  }

  /**
   * Folds what the threads of a result have, half of them into the other half.
   *
   * @param apart between threads that share a result
   */
  private static void halve(
      Ptx ptx,
      Elements elements,
      Reduce.Kind kind,
      String sum,
      String thread,
      String share,
      int sharing,
      int apart) {
    String memory = ptx.shared("sums", THREADS);
    String own = ptx.get(Kind.WORD, "mad.lo.u32", thread, 4, memory);
    ptx.emit("st.shared.f32", "[" + own + "]", sum);
    for (int half = sharing / 2; half > 0; half /= 2) {
      ptx.emit("bar.sync", 0);
      String skip = ptx.label();
      ptx.emitIf(ptx.get(Kind.TRUTH, "setp.ge.u32", share, half), "bra", skip);
      String other = ptx.get(Kind.FLOAT, "ld.shared.f32", "[" + own + "+" + 4 * half * apart + "]");
      ptx.emit("mov.f32", sum, fold(ptx, elements, kind, sum, other));
      ptx.emit("st.shared.f32", "[" + own + "]", sum);
      ptx.place(skip);
    }
  }

  /** Adds rows into a table: each element of it looks for those that are its own, in order. */
  Launch scatterAdd(String name, Node node) {
    Ptx ptx = new Ptx(name, THREADS);
    Elements elements = new Elements(ptx, buffered);
    Node values = node.input(0);
    Node rows = node.input(1);
    int count = node.shape().elements();
    int width = node.shape().extent(1);
    String index = number(ptx);
    String end = ptx.label();
    ptx.emitIf(ptx.get(Kind.TRUTH, "setp.ge.u32", index, count), "bra", end);
    String row = elements.divide(index, width);
    String column = elements.remainder(index, width);
    String sum = ptx.register(Kind.FLOAT);
    ptx.emit("mov.f32", sum, Ptx.literal(0));
    String at = ptx.register(Kind.WORD);
    ptx.emit("mov.u32", at, 0);
    String loop = ptx.label();
    String skip = ptx.label();
    ptx.place(loop);
    elements.forget();
    String other = ptx.get(Kind.TRUTH, "setp.ne.u32", elements.at(rows, at), row);
    ptx.emitIf(other, "bra", skip);
    String value = elements.at(values, elements.add(elements.multiply(at, width), column));
    ptx.emit("add.rn.f32", sum, sum, value);
    ptx.place(skip);
    elements.forget();
    ptx.emit("add.u32", at, at, 1);
    ptx.emitIf(ptx.get(Kind.TRUTH, "setp.lt.u32", at, rows.shape().elements()), "bra", loop);
    ptx.emit("st.global.f32", "[" + ptx.address(node, index) + "]", sum);
    ptx.place(end);
    return Launch.of(ptx, blocks(count), 1, 1);
  }

  private static int blocks(int count) {
    return Math.ceilDiv(count, THREADS);
  }

  /** The number of the thread among all. */
  private static String number(Ptx ptx) {
    String thread = ptx.get(Kind.WORD, "mov.u32", "%tid.x");
    String block = ptx.get(Kind.WORD, "mov.u32", "%ctaid.x");
    return ptx.get(Kind.WORD, "mad.lo.u32", block, THREADS, thread);
  }

  private static String identity(Reduce.Kind kind) {
    return switch (kind) {
      case SUM -> Ptx.literal(0);
      case MAXIMUM -> Ptx.literal(Float.NEGATIVE_INFINITY);
    };
  }

  private static String fold(
      Ptx ptx, Elements elements, Reduce.Kind kind, String one, String other) {
    return switch (kind) {
      case SUM -> ptx.get(Kind.FLOAT, "add.rn.f32", one, other);
      case MAXIMUM -> elements.maximum(one, other);
    };
  }
}
