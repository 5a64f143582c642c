/** Fencing tokens made easy: a store in Redis that refuses a holder who came too late. */
package io.mortise.fencing;
