// Package channel lets people write to the agent from chat networks. A channel is either a program
// that connects over the WebSocket in the mode "channel" (docs/protocol.md#connections), or a
// [Driver] that runs inside the gateway. Both use the [Hub], which does the work that is common to
// all networks:
//
//   - access: open, allowlist or pairing, by sender or by group;
//   - routing: agent, session key (dmScope, identity links), media, reply, place and time in the
//     text;
//   - answers: each answer of a run is stored in the outbox first and sent until the network
//     accepts it, once, also after a restart;
//   - typing, pairing, the accounts with their settings (secrets in the keychain), and
//     reconnecting.
//
// The text that people write on a channel is input for the agent. It cannot answer approvals, and
// only the channel's owners can run commands, in direct messages. Calls that the agent makes
// because of it need the same approvals as all other calls, which are answered in a window.
//
// # Adding a channel
//
// Telegram, WhatsApp or Discord would be one package each, below this one, with a type that
// implements [Driver]:
//
//   - Kind names the channel and the settings of an account. Secret settings leave the keychain
//     only in [Account.Config].
//   - Connect makes one connection and serves it until it ends: it calls [Upstream.Online] with a
//     [Transport] when it can send, and [Upstream.Inbound] for each message; messages of one chat
//     must be passed one after the other. When Connect returns, the hub reconnects after an
//     increasing delay, unless the error is an [ErrLogin]: then the person must act.
//   - Login checks whether the account can log in, or begins a login; its result may contain a QR
//     code.
//   - Logout ends the login on the network. The hub deletes settings and secrets.
//
// A driver drops its own messages and old ones that the network repeats, sets WasMentioned in
// groups, and uses stable sender IDs: an ID that a stranger can choose or take over must not be a
// sender ID. The gateway's wiring passes the drivers to [New]; no other package knows them.
package channel
