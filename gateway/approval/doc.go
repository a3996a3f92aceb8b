// Package approval decides which calls run, which are refused, and which the person is asked about; and it holds the questions.
//
// A question is a row. It is pending until exactly one thing ends it: an answer (the first one wins, from whichever window), its
// time, or the end of its run. A restart keeps it: its run asks the same question again, under the same id. What is shown is
// hashed, an answer must carry that hash, and what runs is compared with it.
//
// A run that nobody need be there for, of a schedule or of a stranger on a channel, waits once: after a question of it has expired its later ones expire
// as soon as they are asked, see [Unattended].
//
// A chat that lets changes or everything through does so for what the person writes there. Others write into the same chat: strangers on a channel (in the
// main chat, as seed 002 has it, unless session.dmScope keeps them apart), jobs, and the agents of other chats. What they begin is asked about as ever.
//
// Unknown means ask, and so does every error on the way to a decision. What the person does directly is their own act: only a
// rule that denies stops it (DESIGN 5).
package approval
