package pake

import (
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"github.com/bwesterb/go-ristretto"
	"github.com/cloudflare/circl/group"
)

// exchange is one side of CPace, the balanced password-authenticated key exchange that the CFRG
// selected. The suite is CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21, initiator (the device)
// first, without associated data. Two sides that know the same few words get the same key; an
// attacker gets one guess per conversation. The group comes from circl; this file has the protocol,
// which is tested with the draft's vectors.
type exchange struct {
	secret group.Scalar
	own    []byte
	sid    []byte
}

var group255 = group.Ristretto255

// dsi is the draft's domain separation identifier of the suite.
const dsi = "CPaceRistretto255"

// newExchange starts an exchange with the shared words, the channel identifier (the draft's CI) and
// the session ID.
func newExchange(words, channel, sid []byte) *exchange {
	e := &exchange{secret: group255.RandomNonZeroScalar(rand.Reader), sid: sid}
	e.own = share(generator(words, channel, sid), e.secret)
	return e
}

// generatorString is the draft's generator_string. The zeros fill the hash's first block, so that
// the words are hashed separately from everything that an attacker can choose.
func generatorString(words, channel, sid []byte) []byte {
	zeros := max(0, sha512.BlockSize-1-len(lv(words))-len(lv([]byte(dsi))))
	return lv([]byte(dsi), words, make([]byte, zeros), channel, sid)
}

// generator is the draft's calculate_generator: the group element for the SHA-512 of the string
// (RFC 9496, section 4.3.4). circl has no function for it.
func generator(words, channel, sid []byte) group.Element {
	var p ristretto.Point
	g := group255.NewElement()
	if err := g.UnmarshalBinary(p.DeriveDalek(generatorString(words, channel, sid)).Bytes()); err != nil {
		panic("trust: a derived element has no encoding: " + err.Error()) // impossible
	}
	return g
}

// share returns the public share that a side sends.
func share(generator group.Element, secret group.Scalar) []byte {
	own, _ := group255.NewElement().Mul(generator, secret).MarshalBinaryCompress() // ristretto255 has only one encoding, which cannot fail
	return own
}

// message returns the message for the other side.
func (e *exchange) message() []byte { return e.own }

var errExchange = errors.New("the code could not be checked: the other end sent no valid key")

// agree is the draft's scalar_mult_vfy: the shared element, or an error if the other side's share
// is invalid or leads to the neutral element.
func agree(secret group.Scalar, other []byte) ([]byte, error) {
	point := group255.NewElement()
	if err := point.UnmarshalBinary(other); err != nil || point.IsIdentity() {
		return nil, errExchange
	}
	shared := group255.NewElement().Mul(point, secret)
	if shared.IsIdentity() {
		return nil, errExchange
	}
	raw, err := shared.MarshalBinaryCompress()
	if err != nil {
		return nil, errExchange
	}
	return raw, nil
}

// sessionKey is the draft's ISK. first is the initiator's message with its associated data, second
// the other's.
func sessionKey(sid, shared []byte, first, second [2][]byte) []byte {
	text := lv([]byte(dsi+"_ISK"), sid, shared)
	text = append(text, lv(first[0], first[1])...)
	text = append(text, lv(second[0], second[1])...)
	sum := sha512.Sum512(text)
	return sum[:]
}

// key returns the shared key. device is true on the device's side, false on the gateway's.
func (e *exchange) key(other []byte, device bool) ([]byte, error) {
	shared, err := agree(e.secret, other)
	if err != nil {
		return nil, err
	}
	first, second := [2][]byte{e.own}, [2][]byte{other}
	if !device {
		first, second = second, first
	}
	return sessionKey(e.sid, shared, first, second), nil
}

// lv is the draft's lv_cat: the fields in order, each after its length in LEB128.
func lv(fields ...[]byte) []byte {
	var out []byte
	for _, f := range fields {
		out = binary.AppendUvarint(out, uint64(len(f)))
		out = append(out, f...)
	}
	return out
}

// concatFields concatenates fields, each with its length, so that different lists never give the
// same result.
func concatFields(fields ...[]byte) []byte {
	var out []byte
	for _, f := range fields {
		out = binary.BigEndian.AppendUint32(out, uint32(len(f)))
		out = append(out, f...)
	}
	return out
}
