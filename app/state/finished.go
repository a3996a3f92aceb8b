package state

import (
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// TransferNews returns the finished transfers to announce to this window's person: not those of
// another computer's files, and not those of the agent, which its chat reports.
func TransferNews(v View) []protocol.Transfer {
	return drop(v.Finished, func(t protocol.Transfer) bool { return t.CallID != "" || Elsewhere(v, t) })
}

// TransferEnd describes a finished transfer and its outcome.
func TransferEnd(v View, t protocol.Transfer, now time.Time) (title, text string) {
	text = TransferLine(v, t, now)
	if t.State == protocol.TransferDone {
		text = "Arrived · " + text
	}
	return TransferTitle(v, t), text
}

// TransferEnds describes the outcomes of several transfers.
func TransferEnds(list []protocol.Transfer) (title, text string) {
	arrived, failed := 0, 0
	for _, t := range list {
		if t.State == protocol.TransferDone {
			arrived++
		} else {
			failed++
		}
	}
	var parts []string
	if arrived > 0 {
		parts = append(parts, fmt.Sprintf("%d arrived", arrived))
	}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	return fmt.Sprintf("%d transfers have ended", len(list)), strings.Join(parts, " · ")
}
