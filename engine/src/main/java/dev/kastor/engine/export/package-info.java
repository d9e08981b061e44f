/**
 * Trained models in open formats: parameters by name as safetensors or npz, and with the inference
 * graph as ONNX.
 *
 * <p>Entry type: {@link dev.kastor.engine.export.TrainedModel}. Equal checkpoints give equal bytes:
 * names are sorted and no file holds a time. Depends on {@code nn}, {@code graph}, {@code op},
 * {@code train}, {@code checkpoint}, {@code data} and Jackson.
 */
@NullMarked
package dev.kastor.engine.export;

import org.jspecify.annotations.NullMarked;
