/** What happened when: holds, marks and the figures that are computed from them. */
@org.jspecify.annotations.NullMarked
package io.mortise.cli.timeline;
