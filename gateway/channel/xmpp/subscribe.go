package xmpp

// maxWishes bounds who is remembered.
const maxWishes = 1000

// subscribe takes somebody's wish to see in their list of contacts whether the agent is there (RFC 6121, 3.1). Who may write to the agent is shown it.
// Others hear nothing: they are shown it when they write and may by then, and the server asks again whenever the agent connects.
func (c *client) subscribe(from string) error {
	c.mu.Lock()
	if len(c.wishes) < maxWishes {
		c.wishes[from] = true
	}
	c.mu.Unlock()
	return c.welcome(from)
}

// welcome shows somebody who wished it and may write that the agent is there.
func (c *client) welcome(from string) error {
	c.mu.Lock()
	wishes := c.wishes[from]
	c.mu.Unlock()
	if !wishes || !c.up.Allows(from) {
		return nil
	}
	c.mu.Lock()
	delete(c.wishes, from)
	c.mu.Unlock()
	return c.s.send("<presence to='" + esc(from) + "' type='subscribed'/>")
}
