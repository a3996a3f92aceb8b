// Package approval decides whether a tool call may run, and asks the person when it may not just so.
//
// [Decide] is the policy: a pure function from a [Request] to allow, ask or deny. What it cannot know, it asks about; an error while it
// decides is a reason to ask, never to allow. [Gate] holds the open questions. A question is a row in the store before anyone sees
// it, the first answer wins wherever it comes from, and a restart keeps it: the run that asks again with the same id gets the same
// question, or the answer that came meanwhile.
//
// How a wait ends follows from the cause of its context. protocol.ErrUnavailable means that the gateway stops: the question stays
// open. Any other cause (the run was stopped, the connection is gone) closes it as cancelled.
package approval
