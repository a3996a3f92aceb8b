package trust

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"fairlead/gateway/protocol"
)

// Path is where a gateway's network listener takes pairings: a WebSocket on which both ends send [Message] as JSON text, in turn.
const Path = "/pair"

// MaxMessage is how many bytes a message may have.
const MaxMessage = 64 << 10

// version of the conversation.
const version = 1

// Doors that only the conversation knows. The others are in protocol.
const (
	doorRenew = "renew" // a paired device fetches a new token with its key
	doorLeave = "leave" // a paired device ends its pairing
)

// Message is one step. Exactly one field is set. The steps are Hello (device), Challenge (gateway), Proof (device), Waiting (gateway, while the
// person decides), Done (gateway); Error ends it at any time.
type Message struct {
	Hello     []byte          `json:"hello,omitempty"` // a Hello as JSON, as it goes into the transcript
	Challenge *Challenge      `json:"challenge,omitempty"`
	Proof     *Proof          `json:"proof,omitempty"`
	Waiting   *Waiting        `json:"waiting,omitempty"`
	Done      *Done           `json:"done,omitempty"`
	Error     *protocol.Error `json:"error,omitempty"`
}

// Wire carries a conversation. Both methods block until the connection ends or the carrier's limit is over.
type Wire interface {
	Send(Message) error
	Receive() (Message, error)
}

// Hello is who wants in, and by which door. Its nonce is hidden in Commit until the gateway has named its own, so that nobody can look for a
// key that gives the same words.
type Hello struct {
	Version int    `json:"version"`
	Door    string `json:"door"`
	Invite  string `json:"invite,omitempty"` // of a link
	Number  int    `json:"number,omitempty"` // of a code
	Pake    []byte `json:"pake,omitempty"`   // of a code
	Commit  []byte `json:"commit"`
	Applicant
}

// Applicant is how a device describes itself. Nothing of it is proved but Key.
type Applicant struct {
	Key      []byte          `json:"key"`
	Role     string          `json:"role"`
	NodeID   protocol.NodeID `json:"nodeId,omitempty"`
	Name     string          `json:"name,omitempty"`
	OS       string          `json:"os,omitempty"`
	Hostname string          `json:"hostname,omitempty"`
	Platform string          `json:"platform,omitempty"`
	Version  string          `json:"programVersion,omitempty"`
	Reach    *protocol.Reach `json:"reach,omitempty"` // of a node
}

// Challenge is the gateway's nonce, and its half of the key exchange for a code.
type Challenge struct {
	Nonce []byte `json:"nonce"`
	Pake  []byte `json:"pake,omitempty"`
}

// Proof opens the commitment, proves that the device knows the invitation's secret, and that the key is its own.
type Proof struct {
	Nonce     []byte `json:"nonce"`
	MAC       []byte `json:"mac,omitempty"`
	Signature []byte `json:"signature"`
}

// Waiting says that the person is asked. MAC proves that the gateway knows the secret too, for the very certificate the device saw.
type Waiting struct {
	MAC     []byte `json:"mac,omitempty"`
	Seconds int    `json:"seconds"` // until the question is over
}

// Done ends a pairing well.
type Done struct {
	Device  protocol.Device `json:"device"`
	Token   string          `json:"token"`
	Gateway Gateway         `json:"gateway"`
}

// Gateway is what a device keeps of a gateway it is paired with.
type Gateway struct {
	Name      string   `json:"name"`
	Pin       Pin      `json:"pin"`
	Addresses []string `json:"addresses"`
}

const nonceSize = 16

func newNonce() []byte {
	b := make([]byte, nonceSize)
	rand.Read(b)
	return b
}

func commitment(nonce, key []byte) []byte {
	sum := sha256.Sum256(joined([]byte("fairlead pair commit"), nonce, key))
	return sum[:]
}

// transcript is everything that both ends said, and the gateway's key as each end saw it: a man in the middle makes them differ.
type transcript [sha256.Size]byte

func newTranscript(pin Pin, hello []byte, c Challenge, deviceNonce []byte) transcript {
	return sha256.Sum256(joined([]byte("fairlead pair transcript"), pin.sum(), hello, c.Nonce, c.Pake, deviceNonce))
}

// words are what both ends show.
func (t transcript) words() []string {
	sum := sha256.Sum256(joined([]byte("fairlead pair words"), t[:]))
	return Words(sum[:], shortWords)
}

// mac proves that side knows secret; nil without one.
func (t transcript) mac(secret []byte, side string) []byte {
	if secret == nil {
		return nil
	}
	m := hmac.New(sha256.New, secret)
	m.Write(joined([]byte("fairlead pair "+side), t[:]))
	return m.Sum(nil)
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// sid is the session's id for the key exchange: both halves of it depend on the device's commitment and the invitation's number.
func sid(number int, commit []byte) []byte {
	return joined([]byte(strconv.Itoa(number)), commit)
}

// channel is what the code is bound to: its purpose and the version of the conversation.
var channel = fmt.Appendf(nil, "fairlead pair %d", version)

// Giver is the gateway's end of a conversation. Begin, Check, then Confirm or an error.
type Giver struct {
	Hello Hello

	pin       Pin
	raw       []byte
	exchange  *exchange
	challenge Challenge
	secret    []byte
	talk      transcript
}

var errTalk = protocol.ErrBadRequest.With("the other end does not speak this version of pairing: bring both to the same version of Fairlead")

// Receive takes the device's first message. pin is the one of the certificate that this gateway shows.
func Receive(pin Pin, m Message) (*Giver, error) {
	g := &Giver{pin: pin, raw: m.Hello}
	if err := json.Unmarshal(m.Hello, &g.Hello); err != nil || g.Hello.Version != version || len(g.Hello.Key) != ed25519.PublicKeySize || len(g.Hello.Commit) != sha256.Size {
		return nil, errTalk
	}
	return g, nil
}

// Renews reports whether the device is paired already and wants a new token.
func (g *Giver) Renews() bool { return g.Hello.Door == doorRenew }

// Leaves reports whether the device is paired and ends that.
func (g *Giver) Leaves() bool { return g.Hello.Door == doorLeave }

// Challenge is the gateway's answer. Of link and code the one that the device's door needs must be given.
func (g *Giver) Challenge(secret []byte, code *Code) (Message, error) {
	g.secret, g.challenge.Nonce = secret, newNonce()
	if code != nil {
		g.exchange = newExchange(code.secret(), channel, sid(g.Hello.Number, g.Hello.Commit))
		g.challenge.Pake = g.exchange.message()
		key, err := g.exchange.key(g.Hello.Pake, false)
		if err != nil {
			return Message{}, protocol.ErrBadRequest.With(err.Error())
		}
		g.secret = key
	}
	return Message{Challenge: &g.challenge}, nil
}

// Reasons why Check refuses. ErrGuess counts as a guess of the secret.
var (
	ErrGuess = protocol.ErrForbidden.With("the code or link is not the right one, or somebody sits between the two machines")
	errProof = protocol.ErrForbidden.With("the device could not prove that its key is its own")
)

// Check verifies the device's proof. After it Words are settled.
func (g *Giver) Check(m Message) error {
	p := m.Proof
	if p == nil || len(p.Nonce) != nonceSize {
		return errTalk
	}
	if !same(commitment(p.Nonce, g.Hello.Key), g.Hello.Commit) {
		return errProof
	}
	g.talk = newTranscript(g.pin, g.raw, g.challenge, p.Nonce)
	if g.secret != nil && !same(p.MAC, g.talk.mac(g.secret, "device")) {
		return ErrGuess
	}
	if !Verify(g.Hello.Key, ForPairing, g.talk[:], p.Signature) {
		return errProof
	}
	return nil
}

// Words are what the person compares.
func (g *Giver) Words() []string { return g.talk.words() }

// Waiting tells the device that the person is asked for so many seconds.
func (g *Giver) Waiting(seconds int) Message {
	return Message{Waiting: &Waiting{MAC: g.talk.mac(g.secret, "gateway"), Seconds: seconds}}
}

// Taker is the device's end.
type Taker struct {
	Identity  Identity
	Applicant Applicant // without Key
	Pin       Pin       // of the certificate that the gateway showed
	Link      *Link     // one of Link, Code, or neither: then the gateway's person is asked
	Code      *Code
	Renew     bool
	Leave     bool
	// OnWaiting is told the words to show, and for how many seconds the person over there is asked.
	OnWaiting func(words []string, seconds int)
}

// Run holds the conversation and returns what the gateway gave. Without link and code nothing proves who the gateway is: the caller must have the
// person at the device compare the words before it keeps anything. A refusal is the gateway's *protocol.Error; [ErrGuess] means that the
// gateway does not know the secret.
func (t Taker) Run(w Wire) (Done, error) {
	hello := Hello{Version: version, Door: protocol.DoorAsk, Applicant: t.Applicant}
	hello.Key = t.Identity.Public()
	nonce := newNonce()
	hello.Commit = commitment(nonce, hello.Key)
	var ex *exchange
	var secret []byte
	switch {
	case t.Renew:
		hello.Door = doorRenew
	case t.Leave:
		hello.Door = doorLeave
	case t.Link != nil:
		hello.Door, hello.Invite, secret = protocol.DoorLink, t.Link.Invite, t.Link.Secret
		if t.Pin != t.Link.Pin {
			return Done{}, ErrPin
		}
	case t.Code != nil:
		hello.Door, hello.Number = protocol.DoorCode, t.Code.Number
		ex = newExchange(t.Code.secret(), channel, sid(hello.Number, hello.Commit))
		hello.Pake = ex.message()
	}
	raw, err := json.Marshal(hello)
	if err != nil {
		return Done{}, fmt.Errorf("encode the request: %w", err)
	}
	m, err := ask(w, Message{Hello: raw})
	if err != nil {
		return Done{}, err
	}
	if m.Challenge == nil || len(m.Challenge.Nonce) != nonceSize {
		return Done{}, errTalk
	}
	if ex != nil {
		if secret, err = ex.key(m.Challenge.Pake, true); err != nil {
			return Done{}, err
		}
	}
	talk := newTranscript(t.Pin, raw, *m.Challenge, nonce)
	m, err = ask(w, Message{Proof: &Proof{Nonce: nonce, MAC: talk.mac(secret, "device"), Signature: t.Identity.Sign(ForPairing, talk[:])}})
	if err != nil {
		return Done{}, err
	}
	if m.Waiting != nil {
		if secret != nil && !same(m.Waiting.MAC, talk.mac(secret, "gateway")) {
			return Done{}, ErrGuess
		}
		if t.OnWaiting != nil {
			t.OnWaiting(talk.words(), m.Waiting.Seconds)
		}
		if m, err = receive(w); err != nil {
			return Done{}, err
		}
	} else if !t.Renew && !t.Leave {
		return Done{}, errTalk
	}
	if m.Done == nil || m.Done.Token == "" && !t.Leave {
		return Done{}, errTalk
	}
	m.Done.Gateway.Pin = t.Pin // what was seen and checked, not what was said
	return *m.Done, nil
}

func ask(w Wire, m Message) (Message, error) {
	if err := w.Send(m); err != nil {
		return Message{}, err
	}
	return receive(w)
}

func receive(w Wire) (Message, error) {
	m, err := w.Receive()
	if err == nil && m.Error != nil {
		err = m.Error
	}
	return m, err
}

// DecodeMessage reads a message from the wire.
func DecodeMessage(data []byte) (Message, error) {
	var m Message
	if len(data) > MaxMessage {
		return m, errTalk
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, errors.Join(errTalk, err)
	}
	return m, nil
}
