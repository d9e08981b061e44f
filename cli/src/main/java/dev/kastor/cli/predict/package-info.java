/**
 * Predictions of an exported model, by a runtime that is not Kastor's. Entry type: {@link
 * dev.kastor.cli.predict.PredictCommand}.
 *
 * <p>Classes of ONNX Runtime are on the class path only where somebody has installed it ({@link
 * dev.kastor.cli.predict.OnnxRuntimeJar}); {@link dev.kastor.cli.predict.OnnxModelFile} alone may
 * use them.
 */
@NullMarked
package dev.kastor.cli.predict;

import org.jspecify.annotations.NullMarked;
