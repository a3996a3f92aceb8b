package nodes

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// Limits of what a node reports about itself and a call. It is shown in every window, stored, and
// published again with every ping.
const (
	maxSaid    = 1_000     // characters of a line of text
	maxHost    = 256 << 10 // bytes of all host information
	maxPreview = 4 << 20   // bytes; our own nodes limit the diff far below that
	maxLive    = 4_000     // characters of live output (protocol.ToolProgress)
)

// line is [protocol.Line] for a node's texts.
func line(s string) string { return protocol.Line(s, maxSaid) }

// hostOf validates a node's host information and converts its texts to lines. Paths stay unchanged,
// because rules refer to them.
func hostOf(id protocol.NodeID, said *protocol.HostInfo) (*protocol.HostInfo, error) {
	if said == nil {
		return nil, nil
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxHost {
		return nil, protocol.ErrInvalidConnect.With(fmt.Sprintf("the host information of %s has %d bytes; the maximum is %d", id, len(raw), maxHost))
	}
	h := *said
	for _, s := range []*string{&h.Hostname, &h.OS, &h.Arch, &h.Address, &h.User, &h.Sandbox} {
		*s = line(*s)
	}
	if said.Enforcement == nil {
		return &h, nil
	}
	e := *said.Enforcement
	for _, s := range []*string{&e.Mode, &e.Network, &e.Summary} {
		*s = line(*s)
	}
	e.Checks, e.Warnings = append([]protocol.EnforcedCheck(nil), e.Checks...), append([]string(nil), e.Warnings...)
	for i := range e.Checks {
		c := &e.Checks[i]
		c.ID, c.By, c.Why, c.Fix = line(c.ID), line(c.By), line(c.Why), line(c.Fix)
	}
	for i, w := range e.Warnings {
		e.Warnings[i] = line(w)
	}
	h.Enforcement = &e
	return &h, nil
}

// lastOf returns the end of a text.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if len(s) > n*utf8.UTFMax {
		s = strings.ToValidUTF8(s[len(s)-n*utf8.UTFMax:], "")
	}
	if r := []rune(s); len(r) > n {
		return string(r[len(r)-n:])
	}
	return s
}
