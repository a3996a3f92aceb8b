package auth

import (
	"context"

	"fairlead/gateway/protocol"
)

// Uses records when things are used.
type Uses interface {
	Record(id string)
	Last(id string) int64
}

// tokenID is the ID of the gateway's token as an exposure.
const tokenID = protocol.ExposureToken + ":gateway"

// Exposures states what the gateway's token reaches.
func (t *Tokens) Exposures(context.Context) ([]protocol.Exposure, error) {
	return []protocol.Exposure{{
		ID: tokenID, Kind: protocol.ExposureToken, Title: "The gateway's own token", LastUsedAt: t.uses.Last(tokenID),
		Reach: "The command line and other programs with it may do everything that you may. The setting auth.token replaces it.",
	}}, nil
}
