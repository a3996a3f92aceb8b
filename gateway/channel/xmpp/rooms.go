package xmpp

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// room is a room that the agent is in or tries to enter.
type room struct {
	nick    string
	joined  bool
	tries   int
	problem string            // the reason why it could not be entered, or empty
	jids    map[string]string // real addresses by nickname, if the room shows them
}

// joining returns the stanza that enters a room and requests no history.
func joining(name, nick string) string {
	return "<presence to='" + esc(name+"/"+nick) + "'><x xmlns='" + nsRoom + "'><history maxstanzas='0'/></x></presence>"
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
	case r == nil: // presence outside of the agent's rooms is ignored
	case p.Type == "error" && !r.joined:
		words := p.Error.String()
		if strings.HasPrefix(words, "conflict") && r.tries < 5 {
			r.tries++
			r.nick += "_"
			again = r.nick
		} else if why := refusal(words); r.problem != why { // entering is repeated each minute, so log a reason once
			r.problem = why
			slog.Warn("Joining a room failed", "room", name, "err", words)
		}
	case p.Type == "unavailable":
		delete(r.jids, nick)
		if r.joined && (nick == r.nick || p.Room.has(110)) {
			r.joined = false
			slog.Info("The agent has left a room", "room", name)
		}
	case p.Type == "":
		if p.Room.has(110) {
			r.joined, r.nick, r.tries, r.problem = true, nick, 0, ""
		}
		if p.Room != nil && p.Room.Item.JID != "" {
			r.jids[nick] = bare(p.Room.Item.JID)
		}
	}
	why := c.roomProblems()
	c.mu.Unlock()
	c.up.Trouble(why)
	if again != "" {
		return c.s.send(joining(name, again))
	}
	return nil
}

// refusals maps the errors of rooms (XEP-0045, 7.2) to sentences.
var refusals = map[string]string{
	"registration required": "only its members may enter", "forbidden": "the agent is banned there", "not authorized": "it requires a password",
	"item not found": "the room does not exist", "not allowed": "creating a room there is not allowed", "service unavailable": "it is full, or its server is unavailable",
	"remote server not found": "its server was not found", "remote server timeout": "its server does not answer", "conflict": "the nickname is taken there",
}

func refusal(words string) string {
	condition, _, _ := strings.Cut(words, ":")
	if plain := refusals[condition]; plain != "" {
		return plain
	}
	return words
}

// roomProblems describes the rooms that could not be entered. The caller must hold c.mu.
func (c *client) roomProblems() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.rooms)) {
		if r := c.rooms[name]; !r.joined && r.problem != "" {
			list = append(list, fmt.Sprintf("the agent is not in the room %s: %s", name, r.problem))
		}
	}
	return strings.Join(list, "; ")
}

// joinRooms tries again to enter the rooms that the agent is not in.
func (c *client) joinRooms() error {
	var stanzas strings.Builder
	c.mu.Lock()
	for name, r := range c.rooms {
		if !r.joined {
			stanzas.WriteString(joining(name, r.nick))
		}
	}
	c.mu.Unlock()
	return c.s.send(stanzas.String())
}

// maxSubscribers limits the stored subscription requests.
const maxSubscribers = 1000

// subscribe handles a request to see the agent's presence (RFC 6121, 3.1). It is accepted once the
// sender may write to the agent; the server repeats it whenever the agent connects.
func (c *client) subscribe(from string) error {
	c.mu.Lock()
	if len(c.subscribers) < maxSubscribers {
		c.subscribers[from] = true
	}
	c.mu.Unlock()
	return c.welcome(from)
}

// welcome accepts a pending subscription request if the sender may write to the agent.
func (c *client) welcome(from string) error {
	if !c.up.Allows(from) {
		return nil
	}
	c.mu.Lock()
	isPending := c.subscribers[from]
	delete(c.subscribers, from)
	c.mu.Unlock()
	if !isPending {
		return nil
	}
	return c.s.send("<presence to='" + esc(from) + "' type='subscribed'/>")
}
