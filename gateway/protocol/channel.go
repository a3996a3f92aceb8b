package protocol

import "encoding/json"

// Peer kinds (seed 004, PeerInfo).
const (
	PeerDM      = "dm"
	PeerGroup   = "group"
	PeerChannel = "channel"
	PeerThread  = "thread"
)

// Peer is a conversation on a channel (seed 004, PeerInfo).
type Peer struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Handle string `json:"handle,omitempty"`
}

// Sender is who wrote (seed 004, SenderInfo).
type Sender struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Handle string `json:"handle,omitempty"`
}

// Media is a file that came with a message (seed 004, MediaAttachment). Type is image, audio, video or document.
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

// Location is a place (seed 004).
type Location struct {
	Lat  float64 `json:"lat"`
	Lon  float64 `json:"lon"`
	Name string  `json:"name,omitempty"`
}

// ChannelMessage is what somebody wrote (seed 004, channel.inbound).
type ChannelMessage struct {
	ID          string    `json:"id,omitempty"`
	Text        string    `json:"text"`
	Timestamp   int64     `json:"timestamp,omitempty"`
	ReplyToID   string    `json:"replyToId,omitempty"`
	ReplyToText string    `json:"replyToText,omitempty"`
	Media       []Media   `json:"media,omitempty"`
	Location    *Location `json:"location,omitempty"`
}

// ChannelInboundParams delivers a message from outside (seed 004, channel.inbound).
type ChannelInboundParams struct {
	Channel   string         `json:"channel"`
	AccountID string         `json:"accountId"`
	Peer      Peer           `json:"peer"`
	Sender    *Sender        `json:"sender,omitempty"`
	Message   ChannelMessage `json:"message"`
	// WasMentioned says whether a message in a group names the agent; nil is a channel that cannot tell, whose messages all count.
	WasMentioned *bool    `json:"wasMentioned,omitempty"`
	MentionedIDs []string `json:"mentionedIds,omitempty"`
}

// Values of ChannelInboundResult.Status beside ChatStarted, ChatCommand and ChatDirectiveOnly (gsv interop notes 10.1). The last two are ours.
const (
	InboundPending   = "pending_pairing"
	InboundBlocked   = "blocked"
	InboundIgnored   = "ignored"   // Reason says why: nobody spoke to the agent
	InboundDuplicate = "duplicate" // the message was taken before
)

// ChannelInboundResult says what became of a message (seed 004, channel.inbound). SessionKey is set where it was routed.
type ChannelInboundResult struct {
	Status     string      `json:"status"`
	SessionKey SessionKey  `json:"sessionKey,omitempty"`
	RunID      RunID       `json:"runId,omitempty"`
	Directives *Directives `json:"directives,omitempty"`
	SenderID   string      `json:"senderId,omitempty"`
	Reason     string      `json:"reason,omitempty"`
	Command    string      `json:"command,omitempty"`  // with ChatCommand
	Response   string      `json:"response,omitempty"` // what the sender is told, with ChatCommand and ChatDirectiveOnly
}

// ChannelOutbound is the channel.outbound event (gsv interop notes 10.2). SessionKey is empty for notices.
type ChannelOutbound struct {
	Channel    string          `json:"channel"`
	AccountID  string          `json:"accountId"`
	Peer       Peer            `json:"peer"`
	SessionKey SessionKey      `json:"sessionKey"`
	Message    OutboundMessage `json:"message"`
	// DeliveryID is set for a channel that named ExtDelivery: it answers with channel.delivered, and gets the message again until it did
	// (extension).
	DeliveryID string `json:"deliveryId,omitempty"`
}

// OutboundMessage is what the agent says.
type OutboundMessage struct {
	Text      string `json:"text"`
	ReplyToID string `json:"replyToId,omitempty"`
	// Media are files to send along, with their content, for a channel that named ExtMedia (extension).
	Media []Media `json:"media,omitempty"`
}

// ExtMedia: the channel takes files with channel.outbound.
const ExtMedia = "media"

// ChannelTyping is the channel.typing event.
type ChannelTyping struct {
	Channel    string     `json:"channel"`
	AccountID  string     `json:"accountId"`
	Peer       Peer       `json:"peer"`
	SessionKey SessionKey `json:"sessionKey"`
	Typing     bool       `json:"typing"`
}

// ExtDelivery: the channel answers channel.outbound with channel.delivered.
const ExtDelivery = "delivery"

// ChannelDeliveredParams says how a delivery went (extension). With an empty Error it arrived; Retryable asks for another try later.
type ChannelDeliveredParams struct {
	DeliveryID string `json:"deliveryId"`
	MessageID  string `json:"messageId,omitempty"`
	Error      string `json:"error,omitempty"`
	Retryable  bool   `json:"retryable,omitempty"`
}

// ChannelEntry is ChannelRegistryEntry of seed 004: an account that is connected.
type ChannelEntry struct {
	Channel       string `json:"channel"`
	AccountID     string `json:"accountId"`
	ConnectedAt   int64  `json:"connectedAt"`
	LastMessageAt int64  `json:"lastMessageAt,omitempty"`
}

// ChannelsListResult answers channels.list. Kinds are the channels that this gateway can run itself (extension).
type ChannelsListResult struct {
	Channels []ChannelEntry `json:"channels"`
	Count    int            `json:"count"`
	Kinds    []ChannelKind  `json:"kinds"`
}

// ChannelKind is a kind of channel and what it has to know.
type ChannelKind struct {
	Channel string         `json:"channel"`
	Title   string         `json:"title"`
	Fields  []ChannelField `json:"fields"`
}

// ChannelField is one setting of an account. Secret ones are kept in the keychain and are never shown.
type ChannelField struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Required bool   `json:"required,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
	Long     bool   `json:"long,omitempty"` // of several lines
}

// ChannelParams names an account (seed 004, channel.stop, channel.status and channel.logout). An empty account is "default", for
// channel.status all.
type ChannelParams struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId,omitempty"`
}

// ChannelStartParams starts an account (seed 004, channel.start). Config is kept for later starts, without its secrets.
type ChannelStartParams struct {
	Channel   string                     `json:"channel"`
	AccountID string                     `json:"accountId,omitempty"`
	Config    map[string]json.RawMessage `json:"config,omitempty"`
}

// ChannelLoginParams logs an account in (seed 004, channel.login). Config is an extension.
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

// ChannelAccountStatus is the state of an account (seed 004).
type ChannelAccountStatus struct {
	AccountID     string         `json:"accountId"`
	Connected     bool           `json:"connected"`
	Authenticated bool           `json:"authenticated"`
	Error         string         `json:"error,omitempty"`
	Extra         map[string]any `json:"extra,omitempty"`
	LastActivity  int64          `json:"lastActivity,omitempty"`
	// Waiting counts messages that are not delivered yet (extension).
	Waiting int `json:"waiting,omitempty"`
	// State says in a word how the account is (extension).
	State string `json:"state"`
	// RetryAt is when an account that is offline is connected again, in milliseconds, to the second (extension).
	RetryAt int64 `json:"retryAt,omitempty"`
	// Settings are those of an account that the gateway runs itself, without its secrets; nil for one over the network (extension).
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
}

// Values of ChannelAccountStatus.State.
const (
	AccountConnected  = "connected"
	AccountConnecting = "connecting"
	AccountOffline    = "offline" // it is connected again at RetryAt, where the gateway does that
	AccountNoLogin    = "noLogin" // Error says why: a person must act
	AccountStopped    = "stopped"
)

// PendingPair is a stranger who wrote (seed 004, pair.list).
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

// PairParams names a stranger (seed 004, pair.approve and pair.reject).
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
