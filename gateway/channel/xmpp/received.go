package xmpp

import (
	"context"
	"encoding/xml"
	"errors"
	"strings"

	"fairlead/gateway/channel"
)

// stanza handles one stanza.
func (c *client) stanza(ctx context.Context, start xml.StartElement, to *inbox) error {
	switch start.Name.Local {
	case "iq":
		var q iq
		if err := c.s.dec.DecodeElement(&q, &start); err != nil {
			return err
		}
		return c.iq(q)
	case "presence":
		var p presence
		if err := c.s.dec.DecodeElement(&p, &start); err != nil {
			return err
		}
		return c.presence(p)
	case "message":
		var m message
		if err := c.s.dec.DecodeElement(&m, &start); err != nil {
			return err
		}
		if m.Type == "error" {
			c.answered(m.ID, sendError(m.Error))
			return nil
		}
		if in, ok := c.inbound(m); ok {
			return to.put(ctx, in)
		}
		return nil
	}
	return c.s.dec.Skip()
}

// sendError converts a refused message to an error: permanent, unless the server asks to wait.
func sendError(e *stanzaError) error {
	if e != nil && e.Type == "wait" {
		return errors.New(e.String())
	}
	return channel.Refused("%s", e)
}

func (c *client) iq(q iq) error {
	switch q.Type {
	case "result", "error": // an error response to a ping also shows that the connection works
		c.mu.Lock()
		asked := c.asked[q.ID]
		delete(c.asked, q.ID)
		c.mu.Unlock()
		if asked != nil {
			asked <- q
		} else {
			c.answered(q.ID, nil)
		}
		return nil
	case "get", "set":
	default:
		return nil
	}
	head := "<iq to='" + esc(q.From) + "' id='" + esc(q.ID) + "' type="
	switch {
	case q.Type == "get" && q.Ping != nil:
		return c.s.send(head + "'result'/>")
	case q.Type == "get" && q.Disco != nil && q.Disco.Node == "":
		var b strings.Builder
		b.WriteString(head + "'result'><query xmlns='" + nsDisco + "'><identity category='client' type='bot' name='Fairlead'/>")
		for _, f := range []string{nsDisco, nsPing, nsStates, nsReceipt, nsReply, nsGeo, "jabber:x:oob", "urn:xmpp:sims:1", "urn:xmpp:sfs:0"} {
			b.WriteString("<feature var='" + f + "'/>")
		}
		b.WriteString("</query></iq>")
		return c.s.send(b.String())
	}
	return c.s.send(head + "'error'><error type='cancel'><service-unavailable xmlns='" + nsStanzas + "'/></error></iq>")
}
