package channel

import (
	"context"
	"maps"
	"slices"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Exposures states who may write to the agent, for each account that is not stopped.
func (m *Accounts) Exposures(context.Context) ([]protocol.Exposure, error) {
	var list []protocol.Exposure
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(m.registry.accounts)) {
		a := m.registry.accounts[k]
		if a.state() == protocol.AccountStopped {
			continue
		}
		e := protocol.Exposure{ID: protocol.ExposureChannel + ":" + k, Kind: protocol.ExposureChannel, Title: a.channel, LastUsedAt: a.lastMessage}
		e.Reach, e.IsPublic = m.senders.reach(a.channel)
		if a.driver != nil {
			e.Title = a.driver.Kind().Title
			account := protocol.ChannelParams{Channel: a.channel, AccountID: a.id}
			start := protocol.NewCall(protocol.ChannelStart, protocol.ChannelStartParams{Channel: a.channel, AccountID: a.id})
			e.Close = &protocol.ExposureClose{
				Button: "Disconnect", Ends: "Nobody reaches the agent there until you connect it again.", Call: protocol.NewCall(protocol.ChannelStop, account), Undo: &start,
			}
		}
		if a.id != DefaultAccount {
			e.Title += ", account " + a.id
		}
		list = append(list, e)
	}
	return list, nil
}

// reach says who may write on a channel, and whether that is everyone.
func (s *Senders) reach(channel string) (words string, isPublic bool) {
	c := s.config().Channels[channel]
	people := make(map[string]bool)
	for _, who := range slices.Concat(c.AllowFrom, c.Owners) {
		people[config.SenderID(channel, who)] = true
	}
	switch n := len(people); {
	case c.DMPolicy == policyOpen || slices.Contains(c.AllowFrom, "*"):
		return "Everyone who knows the address may write to the agent.", true
	case n == 0 && c.DMPolicy == policyAllowlist:
		return "Nobody may write to the agent.", false
	case n == 0:
		return "Nobody may write to the agent before you allow it.", false
	case c.DMPolicy == policyAllowlist:
		return format.Plural(n, "listed sender") + " may write to the agent.", false
	default:
		return format.Plural(n, "listed sender") + " may write to the agent, and others may ask you.", false
	}
}
