/**
 * Programs that use the published artefacts as an application does: each lock, on a server and with
 * the test kit. Knows the exported packages, and nothing inside them.
 *
 * <p>Uses: {@code core}, {@code fairlock}, {@code fencing}, {@code micrometer}, {@code multilock},
 * {@code redlock}, {@code rwlock}, {@code segmentedlock}, {@code testkit}.
 */
package io.mortise.artefacts;
