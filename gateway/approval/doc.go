// Package approval holds the pending approvals, and the rules and grants that the person has saved.
// Package policy decides which calls need an approval.
//
// An approval is a database row. It stays pending until exactly one thing closes it: an answer (the
// first one wins, from whichever window), its expiry, or the end of its run. It survives a restart:
// its run asks again under the same ID. The preview is hashed, an answer must carry that hash, and
// the call that runs is compared with it. See docs/protocol.md#approvals.
//
// An unattended run (of a schedule, or of a stranger on a channel) waits for one approval only.
// After one of its approvals has expired, its later ones expire immediately.
package approval
