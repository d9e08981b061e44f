package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.cuda.Ptx.Kind;
import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The kernel of matrix products and, with operands that look them up in an image, of convolutions:
 * a block computes a tile of the result from tiles in its shared memory, a thread 4 x 4 elements of
 * it in registers. Each element is summed in the order of the summed axis.
 */
final class Product {
  private static final int TILE = 64;
  private static final int DEPTH = 16;
  private static final int EACH = 4;
  private static final int THREADS = TILE / EACH * (TILE / EACH);
  private static final int LOADS = TILE * DEPTH / THREADS;

  /** Fewer blocks leave most of a large GPU idle. */
  private static final int FEW_BLOCKS = 128;

  /** A shorter part of the summed axis is not worth a block. */
  private static final int LEAST_PART = 512;

  /**
   * What is multiplied: for each of {@code batch}, {@code [rows, depth]} by {@code [depth,
   * columns]}.
   */
  record Size(int batch, int rows, int columns, int depth) {
    int elements() {
      return batch * rows * columns;
    }

    private int blocks() {
      return batch * tiles(rows) * tiles(columns);
    }

    /**
     * Into how many parts the summed axis is cut, of which each gets blocks of its own: few long
     * sums, as in the gradient of a small kernel over large images, would have few blocks.
     */
    int parts() {
      if (batch > 1 || blocks() >= FEW_BLOCKS || depth < 2 * LEAST_PART) {
        return 1;
      }
      return Math.min(depth / LEAST_PART, (FEW_BLOCKS + blocks() - 1) / blocks());
    }

    private int part() {
      int even = (depth + parts() - 1) / parts();
      return (even + DEPTH - 1) / DEPTH * DEPTH;
    }
  }

  private final Ptx ptx;
  private final Elements elements;
  private final Size size;

  private Product(Ptx ptx, Elements elements, Size size) {
    this.ptx = ptx;
    this.elements = elements;
    this.size = size;
  }

  /** Finds the sides of a product for one kernel. */
  @FunctionalInterface
  interface Sides {
    /** The left side and the right one. */
    List<Operand> of(Ptx ptx, Elements elements);
  }

  /**
   * The kernel.
   *
   * @param out has a buffer for the result: {@code [batch, rows, columns]}, or {@code [parts, rows,
   *     columns]} of sums over parts of the axis
   */
  static Launch kernel(String name, Size size, Sides sides, Predicate<Node> buffered, Node out) {
    Ptx ptx = new Ptx(name, THREADS);
    Elements elements = new Elements(ptx, buffered);
    List<Operand> operands = sides.of(ptx, elements);
    new Product(ptx, elements, size).write(operands.get(0), operands.get(1), out);
    return Launch.of(
        ptx, tiles(size.rows()), tiles(size.columns()), Math.max(size.batch(), size.parts()));
  }

  private static int tiles(int extent) {
    return Math.ceilDiv(extent, TILE);
  }

  private void write(Operand left, Operand right, Node out) {
    String thread = ptx.get(Kind.WORD, "mov.u32", "%tid.x");
    String row = first("%ctaid.x");
    String column = first("%ctaid.y");
    String slice = ptx.get(Kind.WORD, "mov.u32", "%ctaid.z");
    boolean whole = size.parts() == 1;
    String batch = whole && size.batch() > 1 ? slice : "0";
    String from = ptx.register(Kind.WORD);
    String to = Integer.toString(size.depth());
    if (whole) {
      ptx.emit("mov.u32", from, 0);
    } else {
      ptx.emit("mul.lo.u32", from, slice, size.part());
      String end = ptx.get(Kind.WORD, "add.u32", from, size.part());
      to = ptx.get(Kind.WORD, "min.u32", end, size.depth());
    }
    Loader lefts = new Loader("left", left, thread, batch, row, size.rows());
    Loader rights = new Loader("right", right, thread, batch, column, size.columns());
    String[][] sums = new String[EACH][EACH];
    for (String[] some : sums) {
      for (int i = 0; i < EACH; i++) {
        some[i] = ptx.register(Kind.FLOAT);
        ptx.emit("mov.f32", some[i], Ptx.literal(0));
      }
    }
    String threadRow = elements.multiply(elements.divide(thread, TILE / EACH), EACH);
    String threadColumn = elements.multiply(elements.remainder(thread, TILE / EACH), EACH);
    String leftTile = ptx.get(Kind.WORD, "mad.lo.u32", threadRow, 4, lefts.memory);
    String rightTile = ptx.get(Kind.WORD, "mad.lo.u32", threadColumn, 4, rights.memory);

    String loop = ptx.label();
    String done = ptx.label();
    ptx.place(loop);
    elements.forget();
    // The same for all threads of the block, so that all meet at the barriers.
    ptx.emitIf(ptx.get(Kind.TRUTH, "setp.ge.u32", from, to), "bra", done);
    lefts.load(from, to);
    rights.load(from, to);
    ptx.emit("bar.sync", 0);
    for (int depth = 0; depth < DEPTH; depth++) {
      List<String> rows = four(leftTile, depth);
      List<String> columns = four(rightTile, depth);
      for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
          ptx.emit("fma.rn.f32", sums[i][j], rows.get(i), columns.get(j), sums[i][j]);
        }
      }
    }
    ptx.emit("bar.sync", 0);
    ptx.emit("add.u32", from, from, DEPTH);
    ptx.emit("bra", loop);
    ptx.place(done);
    elements.forget();
    store(sums, elements.add(row, threadRow), elements.add(column, threadColumn), slice, out);
  }

  private String first(String block) {
    String number = ptx.get(Kind.WORD, "mov.u32", block);
    return ptx.get(Kind.WORD, "mul.lo.u32", number, TILE);
  }

  private List<String> four(String tile, int depth) {
    List<String> values = new ArrayList<>();
    for (int i = 0; i < EACH; i++) {
      values.add(ptx.register(Kind.FLOAT));
    }
    ptx.emit(
        "ld.shared.v4.f32",
        "{" + String.join(", ", values) + "}",
        "[" + tile + "+" + 4 * TILE * depth + "]");
    return values;
  }

  private void store(String[][] sums, String row, String column, String slice, Node out) {
    String matrix =
        Math.max(size.batch(), size.parts()) == 1
            ? "0"
            : elements.multiply(slice, size.rows() * size.columns());
    for (int i = 0; i < EACH; i++) {
      String line = elements.add(row, Integer.toString(i));
      String exists = ptx.get(Kind.TRUTH, "setp.lt.u32", line, size.rows());
      String start = elements.add(matrix, elements.multiply(line, size.columns()));
      for (int j = 0; j < EACH; j++) {
        String place = elements.add(column, Integer.toString(j));
        String fits = ptx.get(Kind.TRUTH, "setp.lt.u32", place, size.columns());
        String writes = ptx.get(Kind.TRUTH, "and.pred", exists, fits);
        String address = ptx.address(out, elements.add(start, place));
        ptx.emitIf(writes, "st.global.f32", "[" + address + "]", sums[i][j]);
      }
    }
  }

  /** Fetches the tiles of one side, each thread a few elements. */
  private final class Loader {
    private final String memory;
    private final List<Operand.Line> lines = new ArrayList<>();
    private final List<String> depths = new ArrayList<>();
    private final List<String> exist = new ArrayList<>();
    private final List<String> places = new ArrayList<>();

    /**
     * A loader.
     *
     * @param first register with the first row or column of the tile
     * @param extent how many rows or columns there are
     */
    Loader(String label, Operand side, String thread, String batch, String first, int extent) {
      memory = ptx.shared(label, TILE * DEPTH);
      for (int i = 0; i < LOADS; i++) {
        String number = elements.add(thread, Integer.toString(i * THREADS));
        boolean depthFirst = side.depthFirst();
        String depth =
            depthFirst ? elements.remainder(number, DEPTH) : elements.divide(number, TILE);
        String line =
            depthFirst ? elements.divide(number, DEPTH) : elements.remainder(number, TILE);
        String position = elements.add(first, line);
        depths.add(depth);
        exist.add(ptx.get(Kind.TRUTH, "setp.lt.u32", position, extent));
        lines.add(side.line(batch, position));
        String word = ptx.get(Kind.WORD, "mad.lo.u32", depth, TILE, line);
        places.add(ptx.get(Kind.WORD, "mad.lo.u32", word, 4, memory));
      }
    }

    void load(String from, String to) {
      List<String> values = new ArrayList<>();
      for (int i = 0; i < LOADS; i++) {
        String depth = ptx.get(Kind.WORD, "add.u32", from, depths.get(i));
        String within = ptx.get(Kind.TRUTH, "setp.lt.u32", depth, to);
        String inside = ptx.get(Kind.TRUTH, "and.pred", within, exist.get(i));
        values.add(lines.get(i).at(depth, inside));
      }
      for (int i = 0; i < LOADS; i++) {
        ptx.emit("st.shared.f32", "[" + places.get(i) + "]", values.get(i));
      }
    }
  }
}
