package channel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// DefaultAccount is the account to use when none is named.
const DefaultAccount = "default"

var channelID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// accountID normalizes an account's ID.
func accountID(s string) string { return cmp.Or(config.Name(s), DefaultAccount) }

// channelName validates and normalizes a channel's name, which is used in configuration paths and
// session keys.
func channelName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	switch {
	case s == "":
		return "", protocol.ErrBadRequest.With("channel required")
	case !channelID.MatchString(s):
		return "", protocol.ErrBadRequest.With("channel may contain only letters, digits, _ and -, at most 64")
	}
	return s, nil
}

// runID derives a run's ID from the message's ID, so that a repeated message is accepted once.
func runID(channel, account string, in protocol.ChannelInboundParams) protocol.RunID {
	if in.Message.ID == "" {
		return protocol.RunID(protocol.NewID())
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{channel, account, in.Peer.Kind, in.Peer.ID, in.Message.ID}, "\x00")))
	return protocol.RunID(inboundRun + hex.EncodeToString(sum[:16]))
}

// clip shortens a text to n runes.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
