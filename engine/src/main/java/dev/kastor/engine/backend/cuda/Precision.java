package dev.kastor.engine.backend.cuda;

/**
 * How exactly the operands of products and convolutions are taken; everything is kept, and summed,
 * in single precision. None of them needs its loss scaled: all have the exponents of single
 * precision.
 */
public enum Precision {
  /** As they are, 23 bits after the point. */
  FP32,
  /** Rounded to 10 bits after the point, for tensor cores (compute capability 8.0 or more). */
  TF32,
  /** Rounded to 7 bits after the point, bfloat16, for tensor cores; in convolutions as TF32. */
  BF16
}
