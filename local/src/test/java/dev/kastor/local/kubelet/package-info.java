/** Tests of the local kubelet. */
@NullMarked
package dev.kastor.local.kubelet;

import org.jspecify.annotations.NullMarked;
