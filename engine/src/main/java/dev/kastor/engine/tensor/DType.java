package dev.kastor.engine.tensor;

/** The type of a tensor's elements. */
public enum DType {
  /** IEEE 754 binary32. */
  F32,
  /** Signed 32-bit integers: tokens, classes, row numbers. */
  I32;

  /** Bytes of one element. */
  public int bytes() {
    return 4;
  }
}
