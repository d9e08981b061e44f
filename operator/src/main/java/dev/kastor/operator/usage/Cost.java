package dev.kastor.operator.usage;

/**
 * Money that held slots cost, in the currency of the nodes' prices.
 *
 * @param micros millionths of the currency
 * @param pricedMillis slot-milliseconds on nodes that have a price; the others cost nothing here
 */
public record Cost(long micros, long pricedMillis) {
  /** No slot on a node that has a price. */
  public static final Cost NONE = new Cost(0, 0);

  /** Both together. */
  Cost plus(Cost other) {
    return new Cost(micros + other.micros, pricedMillis + other.pricedMillis);
  }
}
