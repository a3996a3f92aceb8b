package xmpp

import (
	"context"
	"encoding/xml"
	"errors"
	"strings"

	"fairlead/gateway/channel"
)

// refusedMessage is the type of a response that is an error to a message instead of an iq.
const refusedMessage = "refused message"

// stanza handles one stanza.
func (c *client) stanza(ctx context.Context, start xml.StartElement, to *inbox) error {
	switch start.Name.Local {
	case "iq":
		q, err := decode[iq](c, start)
		if err != nil {
			return err
		}
		return c.iq(q)
	case "presence":
		p, err := decode[presence](c, start)
		if err != nil {
			return err
		}
		return c.presence(p)
	case "message":
		m, err := decode[message](c, start)
		if err != nil {
			return err
		}
		if m.Type == "error" {
			c.answered(m.ID, iq{Type: refusedMessage, Error: m.Error})
		} else if in, ok := c.inbound(m); ok {
			return to.put(ctx, in)
		}
		return nil
	}
	return c.s.dec.Skip()
}

func decode[T any](c *client, start xml.StartElement) (v T, err error) {
	return v, c.s.dec.DecodeElement(&v, &start)
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
		c.answered(q.ID, q)
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
