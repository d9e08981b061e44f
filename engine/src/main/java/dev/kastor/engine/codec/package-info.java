/**
 * Codecs of gradients that Kastor ships.
 *
 * <p>Entered through {@link dev.kastor.engine.codec.GradientCodecs}; each is one class and one line
 * there. Who exchanges gradients knows {@link dev.kastor.engine.train.GradientCodec} alone.
 */
@NullMarked
package dev.kastor.engine.codec;

import org.jspecify.annotations.NullMarked;
