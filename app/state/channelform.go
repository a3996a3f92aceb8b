package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"fairlead/gateway/protocol"
)

// ChannelForm has the fields of the form for an account.
type ChannelForm struct {
	Kind    protocol.ChannelKind
	Account string            // account name; empty is "default"
	Values  map[string]string // values by field
	// Exists is the existing account that the form edits: untouched fields keep their values.
	Exists bool
	// StoredKey is the account stored by an earlier, failed Save of this form. Save does not
	// overwrite another account of the same name.
	StoredKey string
	original  map[string]string
}

// NewChannelForm returns an empty form; account is the suggested name.
func NewChannelForm(k protocol.ChannelKind, account string) ChannelForm {
	return ChannelForm{Kind: k, Account: account, Values: map[string]string{}}
}

// FormOfAccount returns the form of an existing account, without secrets: the gateway never reveals
// them.
func FormOfAccount(c ChannelAccount) ChannelForm {
	f := ChannelForm{Kind: c.Kind, Account: c.AccountID, Values: map[string]string{}, Exists: true}
	for _, field := range c.Kind.Fields {
		if text := settingText(c.Settings[field.Name]); text != "" {
			f.Values[field.Name] = text
		}
	}
	f.original = maps.Clone(f.Values)
	return f
}

// settingText formats a setting for editing; lists are separated by commas.
func settingText(raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// missing returns the name of a required field that is empty.
func (f ChannelForm) missing() error {
	for _, field := range f.Kind.Fields {
		if field.Required && strings.TrimSpace(f.Values[field.Name]) == "" && (!f.Exists || !field.Secret) {
			return fmt.Errorf("fill in: %s", field.Title)
		}
	}
	return nil
}

// config returns the values to send to the gateway: those that were filled in or changed.
func (f ChannelForm) config() (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage)
	for _, field := range f.Kind.Fields {
		text := f.Values[field.Name]
		if !field.Secret {
			text = strings.TrimSpace(text)
		}
		if text == f.original[field.Name] && (text == "" || f.Exists) {
			continue // an empty secret means unchanged
		}
		raw, err := protocol.Marshal(text)
		if err != nil {
			return nil, err
		}
		out[field.Name] = raw
	}
	return out, nil
}

// FreeAccount suggests a name for a new account of a channel.
func FreeAccount(list []ChannelAccount, channel string) string {
	taken := make(map[string]bool)
	for _, a := range list {
		if a.Channel == channel {
			taken[a.AccountID] = true
		}
	}
	if !taken["default"] {
		return "default"
	}
	for i := 2; ; i++ {
		if id := fmt.Sprintf("account-%d", i); !taken[id] {
			return id
		}
	}
}

// AccountID normalizes an account's name as the gateway does.
func AccountID(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			b.WriteRune(r)
		} else if !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	if len(s) > 64 {
		s = strings.Trim(s[:64], "-")
	}
	if s == "" {
		return "default"
	}
	return s
}
