package question

import (
	"cmp"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// PairingWords are the words about a device that wants to be paired, or offers more.
func PairingWords(q protocol.Question, _ feed.View, now time.Time) Words {
	title, _ := display.Request(q)
	return Words{Title: title, Body: RequestText(q, now)}
}

// RequestText says what a device asks for.
func RequestText(r protocol.Question, now time.Time) string {
	_, text := display.Request(r)
	if r.Kind == protocol.AskWiden {
		return text
	}
	if r.Pairing.Device.Role == protocol.RoleClient {
		text += " It may " + RightsText(r.Pairing.Device.Scopes) + "."
	}
	if r.Pairing.Device.ExpiresAt > 0 {
		text += " Access ends " + format.When(r.Pairing.Device.ExpiresAt, now) + "."
	}
	return text
}

// RequestSource says which device asks: its system, address and the name of its computer.
func RequestSource(r protocol.Question) string {
	host := ""
	if h := r.Pairing.Device.Hostname; h != "" && !strings.EqualFold(h, r.Pairing.Device.Name) {
		host = "computer name " + h
	}
	return wording.Join(" · ", SystemName(r.Pairing.Device.OS), r.Pairing.Device.Address, host)
}

// RightsText describes what a client may do: view and chat.
func RightsText(scopes []protocol.Scope) string {
	switch may := protocol.Permissions(scopes...); len(may) {
	case 0:
		return "do nothing"
	case len(protocol.ClientScopes):
		return "do everything you can"
	default:
		return format.Enumerate(may)
	}
}

// SystemName is the name of an operating system.
func SystemName(os string) string {
	names := map[string]string{"linux": "Linux", "windows": "Windows", "android": "Android", "darwin": "macOS", "ios": "iOS"}
	return cmp.Or(names[os], os)
}
