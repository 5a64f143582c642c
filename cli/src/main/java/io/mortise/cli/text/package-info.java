/**
 * Text for people on a terminal: aligned columns, colours, times, and a display that is drawn again
 * and again. Knows no lock and no Redis.
 *
 * <p>Uses: no other package of Mortise.
 */
@NullMarked
package io.mortise.cli.text;

import org.jspecify.annotations.NullMarked;
