package channel

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// checkInbound validates a message and normalizes the names of its channel and account.
func checkInbound(in *protocol.ChannelInboundParams) error {
	name, err := channelName(in.Channel)
	if err != nil {
		return err
	}
	kinds := []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread}
	m := in.Message
	switch {
	case in.AccountID == "":
		return protocol.ErrBadRequest.With("accountId required")
	case in.Peer.ID == "" || in.Peer.Kind == "":
		return protocol.ErrBadRequest.With("peer.kind and peer.id required")
	case !slices.Contains(kinds, in.Peer.Kind):
		return protocol.ErrBadRequest.With(fmt.Sprintf("peer.kind must be one of %s, not %q", strings.Join(kinds, ", "), format.Clip(in.Peer.Kind, 40)))
	case strings.TrimSpace(m.Text) == "" && len(m.Media) == 0 && m.Location == nil:
		return protocol.ErrBadRequest.With("message required: text, media or location")
	case len(in.Peer.ID) > 512 || in.Sender != nil && len(in.Sender.ID) > 512 || len(m.ID) > 512:
		return protocol.ErrBadRequest.With("an id is longer than 512 bytes")
	case len(m.Media) > maxMedia:
		return protocol.ErrTooLarge.With(fmt.Sprintf("a message may have at most %d files", maxMedia))
	}
	in.Channel, in.AccountID = name, accountID(in.AccountID)
	return nil
}
