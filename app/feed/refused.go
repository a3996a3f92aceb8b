package feed

import (
	"encoding/json"
	"errors"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// unauthorizedText explains a refusal: an unpaired window needs the right token; a paired one,
// whose token the person does not know, must be paired again.
func unauthorizedText(err error, device protocol.DeviceID) string {
	known, _ := errors.AsType[*protocol.Error](err)
	switch {
	case device == "":
		return "The gateway rejected the token. Start Fairlead with the correct token in FAIRLEAD_TOKEN."
	case known == nil || len(known.Details) == 0:
		return "The gateway no longer accepts this computer's token."
	}
	var why protocol.DeviceRefused
	if err := json.Unmarshal(known.Details, &why); err != nil {
		return "The gateway no longer accepts this computer's token."
	}
	return RefusedText("The gateway", why, time.Now()) + " Pair this computer again."
}

// RefusedText says in a sentence why a gateway no longer accepts this computer.
func RefusedText(gateway string, r protocol.DeviceRefused, now time.Time) string {
	switch r.Reason {
	case protocol.RefusedExpired:
		return "This computer's access to " + gateway + " was for a limited time, which is over."
	case protocol.RefusedUnknown:
		return gateway + " removed this computer."
	}
	text := gateway + " revoked this computer's access"
	if r.At > 0 {
		text += " " + format.Ago(r.At, now)
	}
	return text + "."
}
