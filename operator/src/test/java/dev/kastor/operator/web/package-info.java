@NullMarked
package dev.kastor.operator.web;

import org.jspecify.annotations.NullMarked;
