package dev.kastor.engine.data;

/**
 * A text as bytes, in a training and a held-out part.
 *
 * @param training what is trained on
 * @param heldOut what only evaluation sees: the end of the text
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
public record Text(byte[] training, byte[] heldOut) {
  /** Cuts a text in two, the last tenth being held out. */
  static Text split(byte[] bytes) {
    int cut = bytes.length - bytes.length / 10;
    return new Text(
        java.util.Arrays.copyOfRange(bytes, 0, cut),
        java.util.Arrays.copyOfRange(bytes, cut, bytes.length));
  }
}
