package xmpp

// maxWishes limits the stored subscription requests.
const maxWishes = 1000

// subscribe handles a request to see the agent's presence (RFC 6121, 3.1). Requests of people who
// may write to the agent are accepted. Others get no response: their request is accepted when they
// write and may do so by then, and the server repeats it whenever the agent connects.
func (c *client) subscribe(from string) error {
	c.mu.Lock()
	if len(c.wishes) < maxWishes {
		c.wishes[from] = true
	}
	c.mu.Unlock()
	return c.welcome(from)
}

// welcome accepts a pending subscription request if the sender may write to the agent.
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
