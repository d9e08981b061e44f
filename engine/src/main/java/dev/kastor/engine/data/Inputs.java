package dev.kastor.engine.data;

import java.util.List;

/**
 * Meaning of a model's inputs: how the features of an example come from what a file holds. Whoever
 * uses a trained model elsewhere needs it beside the parameters.
 */
public sealed interface Inputs {
  /** Features as the network takes them, of a program that does not say what they mean. */
  record Features() implements Inputs {}

  /**
   * Pixels of an image, {@code [height, width, channels]}: a value v becomes {@code (v / divisor -
   * mean) * factor}.
   *
   * @param highest the brightest value before that; 0 is the darkest
   */
  record Pixels(
      int height, int width, int channels, float highest, float divisor, float mean, float factor)
      implements Inputs {
    /** The brightest value of a byte. */
    public static final float BYTE = 255;
  }

  /**
   * Numbers, one of each column: a value v becomes {@code (v - mean) * factor}.
   *
   * @param columns names of the columns
   * @param mean one for each column
   * @param factor one for each column
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Numbers(List<String> columns, float[] mean, float[] factor) implements Inputs {
    public Numbers {
      columns = List.copyOf(columns);
    }
  }

  /**
   * Bytes of a text.
   *
   * @param context bytes per example
   */
  record Bytes(int context) implements Inputs {}

  /**
   * Bytes of a sentence, each a token of its number and 1, and tokens of 0 behind its end.
   *
   * @param context most bytes of a sentence; what is beyond is left out
   */
  record Sentences(int context) implements Inputs {}

  /**
   * Categories, one of each column, and pairs of them: a token for each.
   *
   * @param columns the columns in the order of their tokens
   * @param pairs pairs of columns in the order of their tokens, which follow
   */
  record Categories(List<Column> columns, List<Pair> pairs) implements Inputs {
    public Categories {
      columns = List.copyOf(columns);
      pairs = List.copyOf(pairs);
    }

    /**
     * A column of fields.
     *
     * @param buckets bucket of a field
     * @param first token of bucket 0; those of the others follow
     */
    public record Column(String name, Buckets buckets, int first) {}

    /**
     * A pair of columns.
     *
     * @param left number of a column
     * @param right number of a column
     * @param width buckets of the right column that rows have
     * @param hashed whether the two buckets are hashed, as there are more pairs than tokens
     * @param tokens number of tokens
     * @param first token of the first pair of buckets
     */
    public record Pair(int left, int right, int width, boolean hashed, int tokens, int first) {
      /** The token of two buckets. */
      public int token(int leftBucket, int rightBucket) {
        long both = (long) leftBucket * width + rightBucket;
        return first + (hashed || both >= tokens ? Buckets.Hashed.of(both, tokens) : (int) both);
      }
    }
  }
}
