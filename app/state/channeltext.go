package state

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// accountWords are the account states in words.
var accountWords = map[string]string{
	protocol.AccountConnected: "connected", protocol.AccountConnecting: "connecting…", protocol.AccountOffline: "offline",
	protocol.AccountNoLogin: "login failed", protocol.AccountStopped: "stopped",
}

// AccountWord returns an account's state in one word.
func AccountWord(a ChannelAccount) string {
	if a.Busy != "" {
		return strings.ToLower(a.Busy)
	}
	if w := accountWords[a.State]; w != "" {
		return w
	}
	return a.State
}

// AccountText describes an account's state, its consequences, and what to do.
func AccountText(a ChannelAccount, now time.Time) string {
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
		return sentence(errors.New(why)) + ". Correct the settings or log in again."
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

// inSeconds describes a time in the near future.
func inSeconds(ms int64, now time.Time) string {
	d := time.UnixMilli(ms).Sub(now)
	if d <= 0 {
		return "now"
	}
	if d < 100*time.Second {
		return fmt.Sprintf("in %d s", int((d + time.Second - 1).Seconds()))
	}
	return "in about " + DurationText(d)
}

// AccountTitle returns an account's address, or else the name of its channel.
func AccountTitle(a ChannelAccount) string {
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
	return ChannelTitle(a.Kind, a.Channel)
}

// ChannelTitle returns a channel's display name.
func ChannelTitle(k protocol.ChannelKind, channel string) string {
	if k.Title != "" {
		return k.Title
	}
	return channel
}

// PendingText describes a stranger who asks for access, and what granting it means.
func PendingText(p protocol.PendingPair) (title, about string) {
	title, _ = Reveal(p.SenderID)
	if name, _ := Reveal(p.SenderName); name != "" && p.SenderName != p.SenderID {
		title = name + " (" + title + ")"
	}
	return title, "Anyone you allow can give the agent tasks. The name is not verified; only the address is."
}
