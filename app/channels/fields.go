package channels

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// fields has the fields of the form for an account.
type fields struct {
	Kind    protocol.ChannelKind
	Account string            // account name; empty is "default"
	Values  map[string]string // values by field
	// Exists is the existing account that the form edits: untouched fields keep their values.
	Exists bool
	// StoredKey is the account stored by a failed Save, the only one that Save overwrites.
	StoredKey string
	original  map[string]string
}

// newFields returns an empty form; account is the suggested name.
func newFields(k protocol.ChannelKind, account string) fields {
	return fields{Kind: k, Account: account, Values: map[string]string{}}
}

// fieldsOf returns the form of an account, without secrets, which are never revealed.
func fieldsOf(c Account) fields {
	f := fields{Kind: c.Kind, Account: c.AccountID, Values: map[string]string{}, Exists: true}
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

// Copy returns a form that does not change with f.
func (f fields) Copy() fields {
	f.Values = maps.Clone(f.Values)
	return f
}

// missing returns an error that names a required field that is empty.
func (f fields) missing() error {
	for _, field := range f.Kind.Fields {
		if field.Required && strings.TrimSpace(f.Values[field.Name]) == "" && (!f.Exists || !field.Secret) {
			return fmt.Errorf("fill in: %s", field.Title)
		}
	}
	return nil
}

// config returns the values to send to the gateway: those that were filled in or changed.
func (f fields) config() (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage)
	for _, field := range f.Kind.Fields {
		text := f.Values[field.Name]
		if !field.Secret {
			text = strings.TrimSpace(text)
		}
		if text == f.original[field.Name] {
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

// freeAccount suggests a name for a new account of a channel.
func freeAccount(list []Account, channel string) string {
	name := "default"
	for i := 2; slices.ContainsFunc(list, func(a Account) bool { return a.Key() == channel+":"+name }); i++ {
		name = fmt.Sprintf("account-%d", i)
	}
	return name
}

// accountID normalizes an account's name as the gateway does.
func accountID(name string) string {
	return cmp.Or(wording.Slug(strings.TrimSpace(name), "_-"), "default")
}
