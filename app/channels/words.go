package channels

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

var accountWords = map[string]string{
	protocol.AccountConnected: "connected", protocol.AccountConnecting: "connecting…", protocol.AccountOffline: "offline",
	protocol.AccountNoLogin: "login failed", protocol.AccountStopped: "stopped",
}

// accountWord returns an account's state in one word.
func accountWord(a Account) string {
	if a.Busy != "" {
		return strings.ToLower(a.Busy)
	}
	return cmp.Or(accountWords[a.State], a.State)
}

// accountText describes an account's state, its consequences, and what to do.
func accountText(a Account, now time.Time) string {
	why := strings.TrimRight(a.Error, ".")
	switch a.State {
	case protocol.AccountConnected:
		if why != "" {
			return "Connected, with a problem: " + why + "."
		}
		return "Connected. People can write to the agent."
	case protocol.AccountConnecting:
		if why != "" {
			return "Connecting. The last attempt failed: " + why + "."
		}
		return "Connecting."
	case protocol.AccountNoLogin:
		return feed.Sentence(errors.New(why)) + ". Correct the settings or log in again."
	case protocol.AccountStopped:
		return "Stopped. Nobody can reach the agent there until you start it."
	}
	text := "Offline"
	if why != "" {
		text += ": " + why
	}
	if a.RetryAt > 0 {
		text += ". Trying again " + inSeconds(a.RetryAt, now)
	}
	return text + "."
}

func inSeconds(ms int64, now time.Time) string {
	d := time.UnixMilli(ms).Sub(now)
	if d <= 0 {
		return "now"
	}
	if d < 100*time.Second {
		return fmt.Sprintf("in %d s", int((d + time.Second - 1).Seconds()))
	}
	return "in about " + format.Duration(d)
}

// accountTitle returns an account's address, or else the name of its channel.
func accountTitle(a Account) string {
	for _, f := range a.Kind.Fields {
		if f.Required && !f.Secret {
			if text := settingText(a.Settings[f.Name]); text != "" {
				return text
			}
		}
	}
	if a.AccountID != "" && a.AccountID != "default" {
		return a.AccountID
	}
	return channelTitle(a.Kind, a.Channel)
}

// channelTitle returns a channel's display name.
func channelTitle(k protocol.ChannelKind, channel string) string {
	return cmp.Or(k.Title, display.ChannelName(channel))
}
