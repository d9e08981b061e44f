/**
 * Manifests of TrainingJobs and what a server has against them. Entry type: {@link
 * dev.kastor.cli.manifest.ManifestFile}.
 *
 * <p>Depends on {@code cli.terminal} alone.
 */
@NullMarked
package dev.kastor.cli.manifest;

import org.jspecify.annotations.NullMarked;
