package dev.kastor.engine.data;

/**
 * A text as bytes, in a training and a held-out part.
 *
 * @param training what is trained on
 * @param heldOut what only evaluation sees: the end of the text
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
public record Text(byte[] training, byte[] heldOut) {
  /** Bytes that are held out of so many. */
  static int heldOutBytes(int bytes) {
    return bytes / 10;
  }

  /** Cuts a text in two, the last tenth being held out. */
  static Text split(byte[] bytes) {
    int cut = bytes.length - heldOutBytes(bytes.length);
    return new Text(
        java.util.Arrays.copyOfRange(bytes, 0, cut),
        java.util.Arrays.copyOfRange(bytes, cut, bytes.length));
  }
}
