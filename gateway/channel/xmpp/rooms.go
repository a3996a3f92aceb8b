package xmpp

import (
	"log/slog"
	"strings"
)

// room is a room the agent is in or wants to be in.
type room struct {
	nick  string
	in    bool
	tries int
	jids  map[string]string // real addresses by nickname, where the room shows them
}

// join enters a room, without what was said there before.
func (c *client) join(name, nick string) error {
	return c.s.send("<presence to='" + esc(name+"/"+nick) + "'><x xmlns='" + nsRoom + "'><history maxstanzas='0'/></x></presence>")
}

func (c *client) presence(p presence) error {
	name, nick := bare(p.From), resource(p.From)
	again := ""
	c.mu.Lock()
	r := c.rooms[name]
	switch {
	case r == nil: // who else is there is nobody's business
	case p.Type == "error" && !r.in:
		words := p.Error.String()
		if strings.HasPrefix(words, "conflict") && r.tries < 5 {
			r.tries++
			r.nick += "_"
			again = r.nick
		} else {
			slog.Warn("A room could not be entered", "room", name, "err", words)
		}
	case p.Type == "unavailable":
		delete(r.jids, nick)
		if r.in && (nick == r.nick || p.Room.has(110)) {
			r.in = false
			slog.Info("The agent has left a room", "room", name)
		}
	case p.Type == "":
		if p.Room.has(110) {
			r.in, r.nick, r.tries = true, nick, 0
		}
		if p.Room != nil && p.Room.Item.JID != "" {
			r.jids[nick] = bare(p.Room.Item.JID)
		}
	}
	c.mu.Unlock()
	if again != "" {
		return c.join(name, again)
	}
	return nil
}

// enter tries again to enter the rooms that the agent is not in.
func (c *client) enter() error {
	want := make(map[string]string)
	c.mu.Lock()
	for name, r := range c.rooms {
		if !r.in {
			want[name] = r.nick
		}
	}
	c.mu.Unlock()
	for name, nick := range want {
		if err := c.join(name, nick); err != nil {
			return err
		}
	}
	return nil
}
