package protocol

import "encoding/json"

// Kinds of Peer.
const (
	PeerDM      = "dm"
	PeerGroup   = "group"
	PeerChannel = "channel"
	PeerThread  = "thread"
)

// Peer is a conversation on a channel.
type Peer struct {
	Kind   string `json:"kind"` // dm, group, channel or thread
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Handle string `json:"handle,omitempty"`
}

// Sender is the author of a message.
type Sender struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Handle string `json:"handle,omitempty"`
}

// Media is a file attached to a message. Type is image, audio, video or document.
type Media struct {
	Type          string  `json:"type"`
	MimeType      string  `json:"mimeType"`
	Data          string  `json:"data,omitempty"` // base64
	MediaKey      string  `json:"r2Key,omitempty"`
	URL           string  `json:"url,omitempty"`
	Filename      string  `json:"filename,omitempty"`
	Size          int64   `json:"size,omitempty"`     // bytes
	Duration      float64 `json:"duration,omitempty"` // seconds
	Transcription string  `json:"transcription,omitempty"`
}

// Location is a place.
type Location struct {
	Lat  float64 `json:"lat"`
	Lon  float64 `json:"lon"`
	Name string  `json:"name,omitempty"`
}

// ChannelMessage is an incoming message.
type ChannelMessage struct {
	ID          string    `json:"id,omitempty"`
	Text        string    `json:"text"`
	Timestamp   int64     `json:"timestamp,omitempty"`
	ReplyToID   string    `json:"replyToId,omitempty"`
	ReplyToText string    `json:"replyToText,omitempty"`
	Media       []Media   `json:"media,omitempty"`
	Location    *Location `json:"location,omitempty"`
}

// ChannelInboundParams delivers an incoming message to the gateway.
type ChannelInboundParams struct {
	Channel   string         `json:"channel"`
	AccountID string         `json:"accountId"`
	Peer      Peer           `json:"peer"`
	Sender    *Sender        `json:"sender,omitempty"`
	Message   ChannelMessage `json:"message"`
	// WasMentioned reports whether a message in a group mentions the agent. Missing means that the
	// channel cannot tell; then the agent reads every message.
	WasMentioned *bool    `json:"wasMentioned,omitempty"`
	MentionedIDs []string `json:"mentionedIds,omitempty"`
}

// Values of ChannelInboundResult.Status besides ChatStarted, ChatCommand and ChatDirectiveOnly.
// InboundIgnored and InboundDuplicate are extensions.
const (
	InboundPending   = "pending_pairing"
	InboundBlocked   = "blocked"
	InboundIgnored   = "ignored"   // not addressed to the agent; Reason says why
	InboundDuplicate = "duplicate" // the gateway already has this message
)

// ChannelInboundResult reports how the gateway handled a message. SessionKey is set when the
// message was routed to a session.
type ChannelInboundResult struct {
	Status     string      `json:"status"` // started, command, directive-only, pending_pairing, blocked, ignored or duplicate
	SessionKey SessionKey  `json:"sessionKey,omitempty"`
	RunID      RunID       `json:"runId,omitempty"`
	Directives *Directives `json:"directives,omitempty"`
	SenderID   string      `json:"senderId,omitempty"`
	Reason     string      `json:"reason,omitempty"`   // with status "ignored" and "blocked"
	Command    string      `json:"command,omitempty"`  // with status "command"
	Response   string      `json:"response,omitempty"` // reply to the sender, with status "command" and "directive-only"
}

// ChannelOutbound is the payload of the channel.outbound event. SessionKey is empty for notices.
type ChannelOutbound struct {
	Channel    string          `json:"channel"`
	AccountID  string          `json:"accountId"`
	Peer       Peer            `json:"peer"`
	SessionKey SessionKey      `json:"sessionKey"`
	Message    OutboundMessage `json:"message"`
	// DeliveryID is set for a channel that named ExtDelivery. The channel confirms with
	// channel.delivered; until then the gateway sends the message again (extension).
	DeliveryID string `json:"deliveryId,omitempty"`
}

// OutboundMessage is a message from the agent.
type OutboundMessage struct {
	Text      string `json:"text"`
	ReplyToID string `json:"replyToId,omitempty"`
	// Media are attached files with their content, for a channel that named ExtMedia (extension).
	Media []Media `json:"media,omitempty"`
}

// ExtMedia: the channel accepts files in channel.outbound.
const ExtMedia = "media"

// ChannelTyping is the payload of the channel.typing event.
type ChannelTyping struct {
	Channel    string     `json:"channel"`
	AccountID  string     `json:"accountId"`
	Peer       Peer       `json:"peer"`
	SessionKey SessionKey `json:"sessionKey"`
	Typing     bool       `json:"typing"`
}

// ExtDelivery: the channel confirms channel.outbound with channel.delivered.
const ExtDelivery = "delivery"

// ChannelDeliveredParams reports the result of a delivery (extension). An empty Error means
// success; Retryable asks the gateway to try again later.
type ChannelDeliveredParams struct {
	DeliveryID string `json:"deliveryId"`
	MessageID  string `json:"messageId,omitempty"`
	Error      string `json:"error,omitempty"`
	Retryable  bool   `json:"retryable,omitempty"`
}

// ChannelEntry is a connected account.
type ChannelEntry struct {
	Channel       string `json:"channel"`
	AccountID     string `json:"accountId"`
	ConnectedAt   int64  `json:"connectedAt"`
	LastMessageAt int64  `json:"lastMessageAt,omitempty"`
}

// ChannelsListResult answers channels.list. Kinds are the channels that this gateway can run itself
// (extension).
type ChannelsListResult struct {
	Channels []ChannelEntry `json:"channels"`
	Count    int            `json:"count"`
	Kinds    []ChannelKind  `json:"kinds"`
}

// ChannelKind describes a kind of channel and its settings.
type ChannelKind struct {
	Channel string         `json:"channel"`
	Title   string         `json:"title"`
	Fields  []ChannelField `json:"fields"`
}

// ChannelField is one setting of an account. Secrets are in the keychain and never returned.
type ChannelField struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Required bool   `json:"required,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
	Long     bool   `json:"long,omitempty"` // has several lines
}

// ChannelParams selects an account. Empty is "default"; for channel.status all accounts.
type ChannelParams struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId,omitempty"`
}

// ChannelStartParams starts an account. Config is stored for later starts, without its secrets.
type ChannelStartParams struct {
	Channel   string                     `json:"channel"`
	AccountID string                     `json:"accountId,omitempty"`
	Config    map[string]json.RawMessage `json:"config,omitempty"`
}

// ChannelLoginParams logs an account in. Config is an extension.
type ChannelLoginParams struct {
	Channel   string                     `json:"channel"`
	AccountID string                     `json:"accountId,omitempty"`
	Force     bool                       `json:"force,omitempty"`
	Config    map[string]json.RawMessage `json:"config,omitempty"`
}

// ChannelOK answers channel.start, channel.stop and channel.logout.
type ChannelOK struct {
	OK        bool   `json:"ok"`
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
}

// ChannelLoginResult answers channel.login.
type ChannelLoginResult struct {
	OK        bool   `json:"ok"`
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	QRDataURL string `json:"qrDataUrl,omitempty"`
	Message   string `json:"message,omitempty"`
}

// ChannelStatusResult answers channel.status.
type ChannelStatusResult struct {
	Channel  string                 `json:"channel"`
	Accounts []ChannelAccountStatus `json:"accounts"`
}

// ChannelAccountStatus is the state of an account.
type ChannelAccountStatus struct {
	AccountID     string         `json:"accountId"`
	Connected     bool           `json:"connected"`
	Authenticated bool           `json:"authenticated"`
	Error         string         `json:"error,omitempty"`
	Extra         map[string]any `json:"extra,omitempty"`
	LastActivity  int64          `json:"lastActivity,omitempty"`
	// Waiting is the number of messages that wait to be delivered (extension).
	Waiting int `json:"waiting,omitempty"`
	// State is connected, connecting, offline, noLogin or stopped (extension).
	State string `json:"state"`
	// RetryAt is the time of the next connection attempt of an offline account, in Unix
	// milliseconds, rounded to a second (extension).
	RetryAt int64 `json:"retryAt,omitempty"`
	// Settings of an account that the gateway runs itself, without secrets; missing for a channel
	// that is a separate program (extension).
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
}

// Values of ChannelAccountStatus.State.
const (
	AccountConnected  = "connected"
	AccountConnecting = "connecting"
	AccountOffline    = "offline" // the gateway reconnects at RetryAt if it runs the account itself
	AccountNoLogin    = "noLogin" // a person must act; Error says why
	AccountStopped    = "stopped"
)

// PendingPair is an unknown sender who waits for approval.
type PendingPair struct {
	Channel      string `json:"channel"`
	SenderID     string `json:"senderId"`
	SenderName   string `json:"senderName,omitempty"`
	RequestedAt  int64  `json:"requestedAt"`
	FirstMessage string `json:"firstMessage"`
	AccountID    string `json:"accountId,omitempty"` // extension
}

// PairListResult answers pair.list; keys are CHANNEL:SENDER.
type PairListResult struct {
	Pairs map[string]PendingPair `json:"pairs"`
}

// PairParams selects an unknown sender.
type PairParams struct {
	Channel  string `json:"channel"`
	SenderID string `json:"senderId"`
}

// PairApproveResult answers pair.approve.
type PairApproveResult struct {
	Approved   bool   `json:"approved"`
	SenderID   string `json:"senderId"`
	SenderName string `json:"senderName,omitempty"`
}

// PairRejectResult answers pair.reject.
type PairRejectResult struct {
	Rejected bool   `json:"rejected"`
	SenderID string `json:"senderId"`
}
