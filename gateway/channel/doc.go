// Package channel lets people write to the agent from chat networks. A channel is either a program that connects over the WebSocket
// (connect mode "channel" of seed 004), or a [Driver] that the gateway runs itself. Both meet in the [Hub], which does everything that is
// alike for all networks:
//
//   - who may write: open, allowlist or pairing, by sender or by group;
//   - where a message goes: agent, session key (dmScope, identity links), media, reply, place and time in its text;
//   - what goes back: each answer of the run is put into the outbox first and said until the network took it, once, also after a restart;
//   - typing, pairing, the accounts with their settings (secrets in the keychain), and reconnecting.
//
// What somebody writes on a channel is text for the agent. It runs no command and answers no question; calls that the agent wants to make
// because of it go through the same gate as all others, and are answered where the person sees them.
//
// # A channel more
//
// Telegram, WhatsApp or Discord are one package each, below this one, with a type that is a [Driver]:
//
//   - Kind names the channel and the settings of an account; those marked secret never leave the keychain but in [Account.Config].
//   - Connect makes one connection and serves it to its end: it calls [Upstream.Online] with a [Transport] when it can send, and
//     [Upstream.Inbound] for each message, those of one chat one after the other. When it returns, the hub connects again, later each time,
//     unless the error is an [ErrLogin]: then a person must act.
//   - Login finds out whether the account can log in, or begins that: a picture to scan goes back in the result.
//   - Logout ends what Login began on the network's side. Settings and secrets are the hub's to forget.
//
// A driver leaves out its own messages and old ones that the network repeats, says for groups whether the agent was named
// (WasMentioned), and gives ids that mean the same person next time: ids a stranger can choose or take over must not be ids of senders.
// The composition root gives the drivers to [New]; nothing else knows them.
package channel
