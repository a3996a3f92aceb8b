// Package approval decides whether a tool call runs, is denied or needs the person's approval, and
// it holds the pending approvals.
//
// An approval is a database row. It stays pending until exactly one thing ends it: an answer (the
// first one wins, from whichever window), its expiry, or the end of its run. It survives a restart:
// its run asks again under the same ID. The preview is hashed, an answer must carry that hash, and
// the call that runs is compared with it. See docs/protocol.md#approvals.
//
// An unattended run (of a schedule, or of a stranger on a channel) waits for one approval only.
// After one of its approvals has expired, its later ones expire immediately, see [Unattended].
//
// A chat that allows changes or everything without asking does so for the messages of the person
// only. Others write to the same chat: strangers on a channel (in the main chat, as in the original
// system, unless session.dmScope separates them), jobs, and the agents of other chats. Their runs
// still need approvals.
//
// An unknown effect needs an approval, and so does every error on the way to a decision. A direct
// action of the person needs none: only a rule that denies stops it.
package approval
