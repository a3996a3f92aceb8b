// Package auth identifies callers and their scopes, and decides whether a connection may be made at
// all.
package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
)

const (
	KindOwner = "owner" // the person, directly
	KindAgent = "agent" // the agent, on behalf of a run
	KindNode  = "node"
	// KindSchedule is a scheduled job or the heartbeat: it may start runs, which then act as
	// agents.
	KindSchedule = "schedule"
	// KindChannel is a connection to a chat network, or somebody who writes there: they may send
	// text to the agent, but no commands.
	KindChannel = "channel"
	KindApp     = "app" // a connected app, over MCP or REST
)

// Principal is a caller. The zero value has no rights.
type Principal struct {
	Kind    string
	Name    string
	Scopes  map[protocol.Scope]bool
	Session protocol.SessionKey // of an agent
	Run     protocol.RunID      // of an agent
	// the paired device; empty for a caller with the gateway's own token
	Device protocol.DeviceID
	Role   string // of the device

	App protocol.AppID // of a connected app
	// LimitedTo are the machines that the caller may use. Package tool alone reads it.
	LimitedTo Limit
}

// Limit is the machines that a caller may use: those of a list, and those that are in some networks
// now. The zero value is all machines.
type Limit struct {
	protocol.MachineLimit
	// NetworkOf returns the network of a machine; empty for one that is not known.
	NetworkOf func(protocol.NodeID) protocol.NetworkID
}

// Owner returns the principal of the person, at the window or client called name.
func Owner(name string) Principal {
	scopes := make(map[protocol.Scope]bool)
	for _, m := range protocol.Methods {
		scopes[m.Scope] = true
	}
	return Principal{Kind: KindOwner, Name: name, Scopes: scopes}
}

// Agent returns the principal of the agent in a run: its calls are subject to the policy.
func Agent(session protocol.SessionKey, run protocol.RunID) Principal {
	return Principal{Kind: KindAgent, Session: session, Run: run}
}

// Schedule returns the principal of the job called name, or of the heartbeat.
func Schedule(name string) Principal {
	return Principal{Kind: KindSchedule, Name: name, Scopes: map[protocol.Scope]bool{protocol.ScopeChat: true}}
}

// Channel returns the principal of an account's connection to a chat network.
func Channel(channel, account string) Principal {
	return Principal{Kind: KindChannel, Name: channel + ":" + account, Scopes: map[protocol.Scope]bool{protocol.ScopeChannel: true}}
}

// ChannelSender returns the principal of somebody on a channel, who may write to their chat.
func ChannelSender(channel, sender string) Principal {
	return Principal{Kind: KindChannel, Name: channel + " " + sender, Scopes: map[protocol.Scope]bool{protocol.ScopeChat: true}}
}

// ChannelOwner returns the principal of the person who writes on a channel that lists them in
// channels.NAME.owners. They may chat and use all commands of a chat, but have no scope that one of
// their devices would need a grant for, because a third party's network is in between.
func ChannelOwner(channel, sender string) Principal {
	return Principal{Kind: KindOwner, Name: channel + " " + sender, Scopes: map[protocol.Scope]bool{protocol.ScopeChat: true, protocol.ScopeRead: true}}
}

// IsOwner reports whether a principal's String is that of the owner.
func IsOwner(principal string) bool {
	return principal == KindOwner || strings.HasPrefix(principal, KindOwner+" ")
}

// Node returns the principal of a node.
func Node(id protocol.NodeID) Principal {
	return Principal{Kind: KindNode, Name: string(id), Scopes: map[protocol.Scope]bool{protocol.ScopeNode: true, protocol.ScopeRead: true}}
}

// Device returns the principal of a paired device: a node with its ID, or the person with the
// scopes that they gave to the device.
func Device(d protocol.Device) Principal {
	p := Node(d.NodeID)
	if d.Role == protocol.RoleClient {
		p = Principal{Kind: KindOwner, Name: d.Name, Scopes: make(map[protocol.Scope]bool)}
		for _, s := range d.Scopes {
			p.Scopes[s] = s != protocol.ScopeNode
		}
	}
	p.Device, p.Role = d.ID, d.Role
	return p
}

// App returns the principal of a connected app. Its calls are subject to the policy, like an
// agent's. One that is limited to networks reaches nothing in them without [Principal.WithNetworks].
func App(a protocol.App) Principal {
	p := Principal{Kind: KindApp, Name: a.Name, App: a.ID, LimitedTo: Limit{MachineLimit: a.MachineLimit()}, Scopes: make(map[protocol.Scope]bool)}
	for _, s := range a.Scopes {
		p.Scopes[s] = slices.Contains(protocol.AppScopes, s)
	}
	return p
}

// WithNetworks returns p with what tells in which network a machine is.
func (p Principal) WithNetworks(of func(protocol.NodeID) protocol.NetworkID) Principal {
	p.LimitedTo.NetworkOf = of
	return p
}

// HasSameRights reports whether two principals are one caller with the same rights.
func (p Principal) HasSameRights(q Principal) bool {
	return p.Kind == q.Kind && p.Name == q.Name && maps.Equal(p.Scopes, q.Scopes) && p.LimitedTo.Equal(q.LimitedTo.MachineLimit)
}

// Caller names whoever calls, for what belongs to one caller: the ID of a connected app, or p's
// kind. All of the owner's windows and devices are one caller.
func (p Principal) Caller() string {
	if p.App != "" {
		return string(p.App)
	}
	return p.Kind
}

// Has reports whether p has the scope. Every principal has ScopeNone.
func (p Principal) Has(s protocol.Scope) bool { return s == protocol.ScopeNone || p.Scopes[s] }

// String returns p's name in the journal.
func (p Principal) String() string {
	switch {
	case p.Kind == "":
		return "nobody"
	case p.Kind == KindAgent:
		return fmt.Sprintf("agent %s", p.Session)
	case p.Name == "":
		return p.Kind
	}
	return p.Kind + " " + p.Name
}

// TokenName is the name of the gateway's token in the secret store.
const TokenName = "gateway-token"

// Tokens holds the gateway's token. It is safe for concurrent use.
type Tokens struct {
	uses Uses

	mu    sync.Mutex // guards token
	token keychain.Secret
}

// NewToken returns a token with 256 random bits.
func NewToken(prefix string) string {
	var b [32]byte
	rand.Read(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// HashToken returns what is stored of a token that only its owner keeps.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// OpenTokens reads the token, or creates it at the first start. FAIRLEAD_TOKEN overrides it for
// this process and is not stored. uses records when it is used.
func OpenTokens(store keychain.Store, uses Uses) (*Tokens, error) {
	t := &Tokens{uses: uses}
	if env := keychain.FromEnv(); env != "" {
		t.token = env
		return t, nil
	}
	token, err := store.Get(TokenName)
	if errors.Is(err, keychain.ErrNotFound) {
		t.token = keychain.Secret(NewToken("fl_"))
		if err := store.Set(TokenName, t.token); err != nil {
			return nil, fmt.Errorf("store the gateway's token: %w", err)
		}
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the gateway's token: %w", err)
	}
	t.token = token
	return t, nil
}

// Use makes a token valid that the person chose and that is stored. Open connections stay open. While
// FAIRLEAD_TOKEN is set, the next start uses that one again.
func (t *Tokens) Use(token keychain.Secret) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = token
}

// Follow uses each token that the person sets as auth.token. secret reads a secret setting.
func (t *Tokens) Follow(secret func(path string) (string, bool)) func(path string) {
	return func(path string) {
		if v, ok := secret("auth.token"); ok && path == "auth.token" {
			t.Use(keychain.Secret(v))
		}
	}
}

// Current returns the token, for a person who asks to see it.
func (t *Tokens) Current() keychain.Secret {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.token
}

// Verify refuses another token with protocol.ErrUnauthorized. It compares in constant time.
func (t *Tokens) Verify(_ context.Context, token string) error {
	want := sha256.Sum256([]byte(t.Current().Reveal()))
	got := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return protocol.ErrUnauthorized
	}
	t.uses.Record(tokenID)
	return nil
}

// Origins are the addresses at which browsers may use the gateway, besides those of this machine: the
// listener's own, and that of the reverse proxy.
type Origins struct {
	Listener *net.TCPAddr // nil without one
	Config   func() config.Config
}

// Check is [CheckOrigin] for these addresses.
func (o Origins) Check(r *http.Request) error {
	var hosts []string
	if o.Listener != nil && !o.Listener.IP.IsUnspecified() {
		hosts = append(hosts, o.Listener.IP.String())
	}
	if u, err := url.Parse(o.Config().API.PublicURL); err == nil {
		hosts = append(hosts, u.Hostname())
	}
	return CheckOrigin(r, hosts...)
}

// CheckOrigin refuses requests that a web page made a browser send. Host must be a loopback name or
// one of hosts; that stops DNS rebinding, where an attacker's name resolves to this machine.
// Programs send no Origin; if there is one, it must be loopback or one of hosts, too. Pages on
// other local ports pass, but still need the token.
func CheckOrigin(r *http.Request, hosts ...string) error {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	if !allowedHost(host, hosts) {
		return protocol.ErrForbidden.With("this host name is not allowed")
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !allowedHost(u.Hostname(), hosts) {
			return protocol.ErrForbidden.With("web pages of other sites may not connect")
		}
	}
	return nil
}

func allowedHost(host string, more []string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return publicnet.IsLoopback(host) || slices.ContainsFunc(more, func(m string) bool { return m != "" && strings.EqualFold(host, m) })
}

// CertKeyName is the name of the network key in the secret store.
const CertKeyName = "network-key"

// certLife is long: the key is pinned and the certificate is made anew at each start, so that an
// expiry date would have no use.
const certLife = 20 * 365 * 24 * time.Hour

// OpenCertificate returns a certificate for the gateway's key, which it creates and stores the
// first time. The key is P-256, which curl and the TLS of every operating system support.
func OpenCertificate(store keychain.Store, now time.Time) (tls.Certificate, identity.Pin, error) {
	key, err := certKey(store)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "fairlead"}, DNSNames: []string{"fairlead"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certLife), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("create a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("read the certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, identity.PinOf(leaf), nil
}

func certKey(store keychain.Store) (*ecdsa.PrivateKey, error) {
	text, err := store.Get(CertKeyName)
	if errors.Is(err, keychain.ErrNotFound) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("create the network key: %w", err)
		}
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return nil, fmt.Errorf("encode the network key: %w", err)
		}
		if err := store.Set(CertKeyName, keychain.Secret(base64.StdEncoding.EncodeToString(der))); err != nil {
			return nil, fmt.Errorf("store the network key: %w", err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the network key: %w", err)
	}
	der, err := base64.StdEncoding.DecodeString(text.Reveal())
	var key *ecdsa.PrivateKey
	if err == nil {
		key, err = x509.ParseECPrivateKey(der)
	}
	if err != nil {
		return nil, fmt.Errorf("the network key is damaged: %w", err)
	}
	return key, nil
}
