package rpc

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// maxID is the longest ID, in bytes, that a peer may choose for a run, a call or itself. Events
// repeat it.
const maxID = 200

func checkID(name, id string) error {
	if len(id) > maxID || strings.ContainsFunc(id, unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("%s may have %d bytes and no control characters", name, maxID))
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

// maxKey is the longest session key, in bytes. Keys for people on channels are shorter.
const maxKey = 1024

// checkKey refuses a session key that could not be displayed or looked up.
func checkKey(key protocol.SessionKey) error {
	if len(key) > maxKey || strings.ContainsFunc(string(key), unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("sessionKey may have %d bytes and no control characters", maxKey))
	}
	return nil
}
