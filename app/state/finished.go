package state

import (
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// TransferNews are the transfers that ended while this window looked and that its person is told of: not those of another computer's files, nor what the
// agent sends, which its chat tells.
func TransferNews(v View) []protocol.Transfer {
	return drop(v.Finished, func(t protocol.Transfer) bool { return t.CallID != "" || Elsewhere(v, t) })
}

// TransferEnd says of a transfer that has ended what it was and how that went.
func TransferEnd(v View, t protocol.Transfer, now time.Time) (title, text string) {
	text = TransferLine(v, t, now)
	if t.State == protocol.TransferDone {
		text = "Arrived · " + text
	}
	return TransferTitle(v, t), text
}

// TransferEnds says of several what became of them.
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
