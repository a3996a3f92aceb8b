package rpc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/auth"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
)

// nativeToolScopes are the scopes that the gateway's own tools need in addition to the scope to run
// tools: the scope of the equivalent method. A device that may run tools on nodes must not read all
// chats with one of them, or change the agent's identity.
var nativeToolScopes = map[string]protocol.Scope{
	"ReadFile":     protocol.ScopeRead,
	"WriteFile":    protocol.ScopeAdmin,
	"EditFile":     protocol.ScopeAdmin,
	"DeleteFile":   protocol.ScopeAdmin,
	"ConfigGet":    protocol.ScopeRead,
	"LogsGet":      protocol.ScopeRead,
	"SessionsList": protocol.ScopeRead,
	"SessionSend":  protocol.ScopeChat,
	"Message":      protocol.ScopeChat,
	"Cron":         protocol.ScopeChat,
	"Transfer":     protocol.ScopeInvoke,
}

// checkToolScope refuses a native tool to a peer that may not call the equivalent method. An
// unknown tool needs the admin scope.
func checkToolScope(who auth.Principal, name protocol.ToolName, args json.RawMessage) error {
	node, bare, ok := name.Split()
	if !ok || node != protocol.NativePrefix {
		return nil
	}
	right, known := nativeToolScopes[bare]
	if !known {
		right = protocol.ScopeAdmin
	}
	if bare == "Transfer" {
		var in native.TransferIn
		if json.Unmarshal(args, &in) != nil {
			return nil // invalid arguments are refused by the tool
		}
		return checkTransferScopes(who, in)
	}
	return requireScope(who, right, fmt.Sprintf("%s needs the right to %s, which this device does not have", name, right))
}

// checkTransferScopes refuses transfers from or to the agent's workspace to a peer that may not
// read or change it.
func checkTransferScopes(who auth.Principal, in native.TransferIn) error {
	for _, f := range in.Files() {
		var err error
		switch {
		case f.Node != protocol.NativePrefix:
		case f.Effect == protocol.EffectRead:
			err = requireScope(who, protocol.ScopeRead, "this device may not read the agent's workspace")
		default:
			err = requireScope(who, protocol.ScopeAdmin, "this device may not change the agent's workspace")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

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
