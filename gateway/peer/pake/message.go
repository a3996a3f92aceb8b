// Package pake pairs a device with a gateway (docs/protocol.md#pairing): invitations as links and
// as spoken codes, and the messages that prove both sides know the invitation, with a
// password-authenticated key exchange (PAKE) for the short codes. Both sides use it. Package
// gateway/pairing decides which devices are accepted.
package pake

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// Path is the path of the pairing WebSocket on a gateway's network listener. Both sides send
// [Message] as JSON text, in turn.
const Path = "/pair"

// MaxMessage is the maximum size of a message in bytes.
const MaxMessage = 64 << 10

// version is the version of the conversation.
const version = 1

// Kinds of hello that only the conversation knows. The others are in package protocol.
const (
	methodRenew = "renew" // a paired device fetches a new token with its key
	methodEnd   = "leave" // a paired device ends its pairing
)

// Message is one step. Exactly one field is set. The steps are Hello (device), Challenge (gateway),
// Proof (device), Waiting (gateway, while the person decides), Done (gateway). Error ends the
// conversation at any step.
type Message struct {
	Hello     []byte            `json:"hello,omitempty"` // JSON of a Hello, as it enters the transcript
	Challenge *Challenge        `json:"challenge,omitempty"`
	Proof     *Proof            `json:"proof,omitempty"`
	Waiting   *Waiting          `json:"waiting,omitempty"`
	Done      *identity.Pairing `json:"done,omitempty"`
	Error     *protocol.Error   `json:"error,omitempty"`
}

// Transport transports a conversation. Both methods block until the connection ends or the
// transport's time limit is reached.
type Transport interface {
	Send(Message) error
	Receive() (Message, error)
}

// Hello is the device's request. Method tells how it proves its right: with a link, a code, or
// neither, or with its key if it is paired already. Commit hides its nonce until the gateway has
// sent its own, so that nobody can search for a key that gives the same words.
type Hello struct {
	Version int    `json:"version"`
	Method  string `json:"door"`
	Invite  string `json:"invite,omitempty"` // ID, with a link
	Number  int    `json:"number,omitempty"` // with a code
	Pake    []byte `json:"pake,omitempty"`   // with a code
	Commit  []byte `json:"commit"`
	Applicant
}

// Applicant describes a device in its own words. Only Key is proved.
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

// Challenge has the gateway's nonce and, with a code, its message of the key exchange.
type Challenge struct {
	Nonce []byte `json:"nonce"`
	Pake  []byte `json:"pake,omitempty"`
}

// Proof opens the commitment, and proves that the device knows the invitation's secret and owns its
// key.
type Proof struct {
	Nonce     []byte `json:"nonce"`
	MAC       []byte `json:"mac,omitempty"`
	Signature []byte `json:"signature"`
}

// Waiting tells the device that the person is deciding. MAC proves that the gateway knows the
// secret too and uses the certificate that the device saw.
type Waiting struct {
	MAC     []byte `json:"mac,omitempty"`
	Seconds int    `json:"seconds"` // until the request expires
}

const nonceSize = 16

func commitment(nonce, key []byte) []byte {
	sum := sha256.Sum256(concatFields([]byte("fairlead pair commit"), nonce, key))
	return sum[:]
}

// transcript is the hash of all messages and of the gateway's key as each side saw it. A man in the
// middle makes the two sides' transcripts differ.
type transcript [sha256.Size]byte

func newTranscript(pin identity.Pin, hello []byte, c Challenge, deviceNonce []byte) transcript {
	return sha256.Sum256(concatFields([]byte("fairlead pair transcript"), pin.Sum(), hello, c.Nonce, c.Pake, deviceNonce))
}

// words returns the words that both sides show.
func (t transcript) words() []string {
	sum := sha256.Sum256(concatFields([]byte("fairlead pair words"), t[:]))
	return identity.Words(sum[:], identity.ShortWords)
}

// mac proves that side knows secret; nil without a secret.
func (t transcript) mac(secret []byte, side string) []byte {
	if secret == nil {
		return nil
	}
	m := hmac.New(sha256.New, secret)
	m.Write(concatFields([]byte("fairlead pair "+side), t[:]))
	return m.Sum(nil)
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// sid returns the session ID of the key exchange. It binds both messages to the device's commitment
// and the invitation's number.
func sid(number int, commit []byte) []byte {
	return concatFields([]byte(strconv.Itoa(number)), commit)
}

// channel is the channel identifier of the key exchange: its purpose and the version of the
// conversation.
var channel = fmt.Appendf(nil, "fairlead pair %d", version)

// Errors of Check. ErrWrongSecret counts as a wrong guess.
var (
	ErrWrongSecret = protocol.ErrForbidden.With("the code or link is wrong, or someone is intercepting the connection")
	errProof       = protocol.ErrForbidden.With("the device could not prove that its key is its own")
)

// DecodeMessage decodes a message.
func DecodeMessage(data []byte) (Message, error) {
	var m Message
	if len(data) > MaxMessage {
		return m, errVersion
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, errors.Join(errVersion, err)
	}
	return m, nil
}
