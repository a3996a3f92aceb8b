package rpc

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

func requireScope(who auth.Principal, right protocol.Scope, otherwise string) error {
	if !who.Has(right) {
		return protocol.ErrForbidden.With(otherwise)
	}
	return nil
}

// maxID is the longest ID, in bytes, that a peer may choose for a run, a call or itself. Events
// repeat it.
const maxID = 200

func checkID(name, id string) error { return checkText(name, id, maxID) }

func checkText(name, text string, most int) error {
	if len(text) > most || strings.ContainsFunc(text, unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("%s may have %d bytes and no control characters", name, most))
	}
	return nil
}

// maxLabel is the longest name of a chat, in characters. Every window lists it.
const maxLabel = 200

func checkLabel(label string) error {
	if utf8.RuneCountInString(label) > maxLabel || strings.ContainsFunc(label, unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("label must be one line of at most %d characters", maxLabel))
	}
	return nil
}

// Limits of a chat's tags.
const (
	maxTags   = 20
	maxTagLen = 40 // characters
)

func checkTags(tags []string) error {
	wrong := func(t string) bool {
		return utf8.RuneCountInString(t) > maxTagLen || strings.ContainsRune(t, ',') || strings.ContainsFunc(t, unicode.IsControl)
	}
	if len(tags) > maxTags || slices.ContainsFunc(tags, wrong) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("tags: at most %d, each of at most %d characters without commas", maxTags, maxTagLen))
	}
	return nil
}

// maxKey is the longest session key, in bytes. Keys for people on channels are shorter.
const maxKey = 1024

// checkKey refuses a session key that could not be displayed or looked up.
func checkKey(key protocol.SessionKey) error { return checkText("sessionKey", string(key), maxKey) }
