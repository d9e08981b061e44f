@NullMarked
package dev.kastor.cli.recording;

import org.jspecify.annotations.NullMarked;
