package xmpp

import (
	"encoding/xml"
	"slices"
	"strings"
)

// Namespaces.
const (
	nsStream  = "http://etherx.jabber.org/streams"
	nsClient  = "jabber:client"
	nsTLS     = "urn:ietf:params:xml:ns:xmpp-tls"
	nsSASL    = "urn:ietf:params:xml:ns:xmpp-sasl"
	nsBind    = "urn:ietf:params:xml:ns:xmpp-bind"
	nsStanzas = "urn:ietf:params:xml:ns:xmpp-stanzas"
	nsPing    = "urn:xmpp:ping"                         // XEP-0199
	nsDisco   = "http://jabber.org/protocol/disco#info" // XEP-0030
	nsRoom    = "http://jabber.org/protocol/muc"        // XEP-0045
	nsStates  = "http://jabber.org/protocol/chatstates" // XEP-0085
	nsReceipt = "urn:xmpp:receipts"                     // XEP-0184
	nsReply   = "urn:xmpp:reply:0"                      // XEP-0461
	nsGeo     = "http://jabber.org/protocol/geoloc"     // XEP-0080
)

type features struct {
	StartTLS   *struct{} `xml:"urn:ietf:params:xml:ns:xmpp-tls starttls"`
	Mechanisms []string  `xml:"urn:ietf:params:xml:ns:xmpp-sasl mechanisms>mechanism"`
	Bind       *struct{} `xml:"urn:ietf:params:xml:ns:xmpp-bind bind"`
}

type streamError struct {
	Text  string    `xml:"urn:ietf:params:xml:ns:xmpp-streams text"`
	Inner []element `xml:",any"`
}

type element struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
}

// saslEnd is a success, failure or challenge of SASL.
type saslEnd struct {
	XMLName xml.Name
	Data    string    `xml:",chardata"`
	Text    string    `xml:"text"`
	Inner   []element `xml:",any"`
}

type stanzaError struct {
	Type  string    `xml:"type,attr"` // cancel, continue, modify, auth or wait
	Text  string    `xml:"urn:ietf:params:xml:ns:xmpp-stanzas text"`
	Inner []element `xml:",any"`
}

// String returns the error as text.
func (e *stanzaError) String() string {
	if e == nil {
		return "an error"
	}
	words := ""
	for _, x := range e.Inner {
		if x.XMLName.Space == nsStanzas && x.XMLName.Local != "text" {
			words = strings.ReplaceAll(x.XMLName.Local, "-", " ")
		}
	}
	if e.Text != "" {
		return strings.TrimSpace(words + ": " + e.Text)
	}
	return words
}

type iq struct {
	From  string      `xml:"from,attr"`
	ID    string      `xml:"id,attr"`
	Type  string      `xml:"type,attr"`
	JID   string      `xml:"urn:ietf:params:xml:ns:xmpp-bind bind>jid"`
	Ping  *struct{}   `xml:"urn:xmpp:ping ping"`
	Disco *discoQuery `xml:"http://jabber.org/protocol/disco#info query"`
	Items []struct {
		JID string `xml:"jid,attr"`
	} `xml:"http://jabber.org/protocol/disco#items query>item"`
	Slot  *slot        `xml:"urn:xmpp:http:upload:0 slot"`
	Error *stanzaError `xml:"error"`
}

type discoQuery struct {
	Node     string    `xml:"node,attr"`
	Features []feature `xml:"feature"`
}

type feature struct {
	Var string `xml:"var,attr"`
}

// slot contains the addresses for an upload and for the later download (XEP-0363).
type slot struct {
	Put struct {
		URL     string `xml:"url,attr"`
		Headers []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:",chardata"`
		} `xml:"header"`
	} `xml:"put"`
	Get struct {
		URL string `xml:"url,attr"`
	} `xml:"get"`
}

type presence struct {
	From  string       `xml:"from,attr"`
	ID    string       `xml:"id,attr"`
	Type  string       `xml:"type,attr"`
	Room  *roomUser    `xml:"http://jabber.org/protocol/muc#user x"`
	Error *stanzaError `xml:"error"`
}

type roomUser struct {
	Item struct {
		JID string `xml:"jid,attr"`
	} `xml:"item"`
	Status []roomStatus `xml:"status"`
}

type roomStatus struct {
	Code int `xml:"code,attr"`
}

// has reports whether the room sent the status code.
func (r *roomUser) has(code int) bool {
	return r != nil && slices.Contains(r.Status, roomStatus{code})
}

type message struct {
	From       string       `xml:"from,attr"`
	To         string       `xml:"to,attr"`
	ID         string       `xml:"id,attr"`
	Type       string       `xml:"type,attr"`
	Body       []string     `xml:"body"`
	Subject    *string      `xml:"subject"`
	Delay      *delay       `xml:"urn:xmpp:delay delay"`
	Origins    []stanzaID   `xml:"urn:xmpp:sid:0 stanza-id"`
	Reply      *reply       `xml:"urn:xmpp:reply:0 reply"`
	Request    *struct{}    `xml:"urn:xmpp:receipts request"`
	OOB        []string     `xml:"jabber:x:oob x>url"`
	Sharing    []sharing    `xml:"urn:xmpp:sfs:0 file-sharing"`
	References []reference  `xml:"urn:xmpp:reference:0 reference"`
	Geo        *geo         `xml:"http://jabber.org/protocol/geoloc geoloc"`
	Encrypted  *struct{}    `xml:"eu.siacs.conversations.axolotl encrypted"`
	OMEMO      *struct{}    `xml:"urn:xmpp:omemo:2 encrypted"`
	PGP        *struct{}    `xml:"jabber:x:encrypted x"`
	Composing  *struct{}    `xml:"http://jabber.org/protocol/chatstates composing"`
	Paused     *struct{}    `xml:"http://jabber.org/protocol/chatstates paused"`
	Received   *stanzaID    `xml:"urn:xmpp:receipts received"`
	Error      *stanzaError `xml:"error"`
}

type delay struct {
	Stamp string `xml:"stamp,attr"`
}

type stanzaID struct {
	ID string `xml:"id,attr"`
	By string `xml:"by,attr"`
}

type reply struct {
	ID string `xml:"id,attr"`
	To string `xml:"to,attr"`
}

type geo struct {
	Lat  float64 `xml:"lat"`
	Lon  float64 `xml:"lon"`
	Text string  `xml:"text"`
}

// esc escapes a text for XML. Characters that XML does not allow become U+FFFD.
func esc(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// bare returns an address without its resource, normalized for comparisons.
func bare(jid string) string {
	jid, _, _ = strings.Cut(jid, "/")
	return strings.ToLower(strings.TrimSpace(jid))
}

// resource returns an address's resource, which in a room is the nickname.
func resource(jid string) string {
	_, r, _ := strings.Cut(jid, "/")
	return r
}

// splitJID splits a bare address; ok is false if it is invalid.
func splitJID(jid string) (local, domain string, ok bool) {
	local, domain, ok = strings.Cut(bare(jid), "@")
	ok = ok && local != "" && domain != "" && !strings.ContainsAny(local, " \"&'/:<>@\t\n\r\x00") && !strings.ContainsAny(domain, " \"&'/<>@\t\n\r\x00")
	return local, domain, ok
}
