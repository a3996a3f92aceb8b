package gemini

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// refine handles Google's peculiarities: an invalid key is a 400, every limit is called a quota,
// and the wait is in the body.
func refine(f *ask.Failure, body []byte) {
	var e struct {
		Error struct {
			Details []struct {
				Reason     string
				RetryDelay string
				Violations []struct{ QuotaID string }
			}
		}
	}
	if json.Unmarshal(body, &e) != nil {
		return
	}
	for _, d := range e.Error.Details {
		if d.Reason == "API_KEY_INVALID" || d.Reason == "API_KEY_EXPIRED" {
			f.Again = false
			f.SetError(protocol.ErrModelAuth, "The provider refused the key: "+f.Reason)
		}
		if f.Status != http.StatusTooManyRequests {
			continue
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			f.Again = true
			f.After = max(f.After, wait)
		}
	}
	for _, d := range e.Error.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") { // the error contains a delay anyway
				f.Again = false
			}
		}
	}
}
