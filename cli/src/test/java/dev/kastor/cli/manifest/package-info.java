/** Tests of manifests. */
@NullMarked
package dev.kastor.cli.manifest;

import org.jspecify.annotations.NullMarked;
