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
// Telegram, WhatsApp or Discord would be one package each, below this one, with a [Driver]. It
// drops its own messages and old ones that the network repeats, sets WasMentioned in groups, and
// uses stable sender IDs: an ID that a stranger can choose or take over must not be a sender ID.
// The gateway's wiring passes the drivers to [New]; no other package knows them.
package channel
