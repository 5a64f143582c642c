/** The engine. Not exported. */
package io.mortise.core.internal;
