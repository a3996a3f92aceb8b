package config

import (
	"regexp"
	"slices"
	"strings"
)

var (
	phoneForm = regexp.MustCompile(`^\+?[0-9][0-9 ()./-]{6,}$`)
	// phoneChannels are the channels that identify people by telephone number. On others, digits
	// are a name like any other.
	phoneChannels = []string{"whatsapp", "signal", "sms"}
)

// SenderID normalizes a sender's ID for comparison, wherever a setting names people:
// channels.NAME.allowFrom and owners, and session.identityLinks. Telephone numbers, on a channel
// that has them or with a leading +, lose their punctuation and WhatsApp's suffixes, as in the
// original system. Any other ID changes in case only, so that no two people share one.
func SenderID(channel, id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	number := id
	onPhone := slices.Contains(phoneChannels, channel)
	for _, suffix := range []string{"@s.whatsapp.net", "@c.us"} {
		if cut, ok := strings.CutSuffix(id, suffix); ok && onPhone {
			number, _, _ = strings.Cut(cut, ":") // removes the device number, too
		}
	}
	if !phoneForm.MatchString(number) || !onPhone && number[0] != '+' {
		return id
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	international, abroad := strings.CutPrefix(digits, "00")
	if abroad || number[0] == '+' || len(digits) >= 10 {
		return "+" + international
	}
	return digits
}
