package xmpp

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// room is a room the agent is in or wants to be in.
type room struct {
	nick    string
	in      bool
	tries   int
	problem string            // why it could not be entered; empty is none
	jids    map[string]string // real addresses by nickname, where the room shows them
}

// join enters a room, without what was said there before.
func (c *client) join(name, nick string) error {
	return c.s.send("<presence to='" + esc(name+"/"+nick) + "'><x xmlns='" + nsRoom + "'><history maxstanzas='0'/></x></presence>")
}

func (c *client) presence(p presence) error {
	name, nick := bare(p.From), resource(p.From)
	if p.Type == "subscribe" {
		return c.subscribe(name)
	}
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
		} else if why := refusal(words); r.problem != why { // it is tried again each minute
			r.problem = why
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
			r.in, r.nick, r.tries, r.problem = true, nick, 0, ""
		}
		if p.Room != nil && p.Room.Item.JID != "" {
			r.jids[nick] = bare(p.Room.Item.JID)
		}
	}
	why := c.outside()
	c.mu.Unlock()
	c.up.Trouble(why)
	if again != "" {
		return c.join(name, again)
	}
	return nil
}

// refusals are why rooms let nobody in (XEP-0045, 7.2), in plain words.
var refusals = map[string]string{
	"registration required": "it lets in its members alone", "forbidden": "the agent is banned there", "not authorized": "it wants a password",
	"item not found": "there is no such room", "not allowed": "no new room may be made there", "service unavailable": "it is full, or its server is away",
	"remote server not found": "its server is not found", "remote server timeout": "its server does not answer", "conflict": "the nickname is taken there",
}

func refusal(words string) string {
	condition, _, _ := strings.Cut(words, ":")
	if plain := refusals[condition]; plain != "" {
		return plain
	}
	return words
}

// outside says which rooms could not be entered, and why. c.mu must be held.
func (c *client) outside() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.rooms)) {
		if r := c.rooms[name]; !r.in && r.problem != "" {
			list = append(list, fmt.Sprintf("the agent is not in the room %s: %s", name, r.problem))
		}
	}
	return strings.Join(list, "; ")
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
