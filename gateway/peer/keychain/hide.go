package keychain

import (
	"errors"
	"strings"

	"fairlead/gateway/protocol"
)

// minHidden is how many bytes a secret has that is looked for in texts: a shorter one would be found in any.
const minHidden = 8

// Hide takes a secret out of an error's words, and leaves any other error as it is. Servers quote the key that they refuse, and errors are stored, shown and
// logged.
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
