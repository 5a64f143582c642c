/**
 * Who was inside when: lanes, gaps, overlaps, and the order of those who waited.
 *
 * <p>Uses: the JDK.
 */
package io.mortise.cli.timeline;
