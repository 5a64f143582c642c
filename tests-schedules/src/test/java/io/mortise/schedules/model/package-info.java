/**
 * Random sequences of calls, compared with a model. A seed gives a sequence of calls by a few
 * threads of two clients on locks of most families; {@link io.mortise.schedules.model.Model} says
 * after each call who holds what, and until when. Time is virtual, so that leases end and holds are
 * renewed inside a sequence.
 */
package io.mortise.schedules.model;
