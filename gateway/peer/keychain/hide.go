package keychain

import (
	"errors"
	"strings"

	"fairlead/gateway/protocol"
)

// minHidden is the minimum length in bytes of a secret to look for in texts; a shorter one would
// match by chance.
const minHidden = 8

// Hide removes a secret from an error's text, and returns any other error unchanged. It is needed
// because servers quote the key that they refuse, and errors are stored, displayed and logged.
func Hide(err error, value string) error {
	if err == nil || len(value) < minHidden || !strings.Contains(err.Error(), value) {
		return err
	}
	text := strings.ReplaceAll(err.Error(), value, protocol.MaskedSecret)
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		e = e.With(text)
		e.Details = nil
		return e
	}
	return errors.New(text)
}
