//go:build unix

package gateway_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// storingCall is a call of a method that stores something.
type storingCall struct {
	by        func(*refusal) *client.Client // who makes the call; nil means the owner
	isRunning bool                          // a run is in progress meanwhile
	// prepare makes what the call needs, and returns its parameters. It is called for each refusal.
	prepare   func(*refusal) any
	await     func(*refusal)                 // waits for what the call leaves to do when it succeeds; may be nil
	failed    func(raw json.RawMessage) bool // reports whether a result is a failure; may be nil
	hasSecret bool                           // the call changes secrets too
	isFile    bool                           // the call changes a file of the agent, and not the store
	// needsNetwork means that the call fails in the end, because its server cannot be reached.
	needsNetwork bool
}

func with(prepare func(*refusal) any) []storingCall { return []storingCall{{prepare: prepare}} }

// params makes parameters from JSON in which $ is a new name.
func params(text string) func(*refusal) any {
	return func(r *refusal) any { return json.RawMessage(strings.ReplaceAll(text, "$", r.name("n"))) }
}

// chat makes a chat with a question and its answer, and returns its key and the question's ID.
func (r *refusal) chat() (protocol.SessionKey, protocol.MessageID) {
	key := ask(r.accessGateway, protocol.SessionCreate, protocol.SessionCreateParams{Label: r.name("chat")}).SessionKey
	ask(r.accessGateway, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: "what can you do"})
	var msgs []protocol.Message
	r.until("an answer", func() bool {
		msgs = ask(r.accessGateway, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key}).Messages
		return len(msgs) >= 2 && !ask(r.accessGateway, protocol.SessionGetStat, protocol.SessionParams{SessionKey: key}).IsProcessing
	})
	return key, msgs[0].ID
}

// network makes a network, and returns its name.
func (r *refusal) network() string {
	return ask(r.accessGateway, protocol.NetworkCreate, protocol.NetworkCreateParams{Name: r.name("net")}).Name
}

// inChat is with for parameters of a chat.
func inChat(f func(r *refusal, key protocol.SessionKey, id protocol.MessageID) any) []storingCall {
	return with(func(r *refusal) any {
		key, id := r.chat()
		return f(r, key, id)
	})
}

func ofChat(_ *refusal, key protocol.SessionKey, _ protocol.MessageID) any {
	return protocol.SessionParams{SessionKey: key}
}

// question makes an app ask for a call.
func (r *refusal) question() protocol.Question {
	token, name := r.token(r.name("app"), protocol.ScopeShell), r.name("echo ")
	r.surfaces()["REST"](token, "command", `{"session":{"node_name":"box","command":"`+name+`"}}`)
	for _, q := range r.pending() {
		if strings.Contains(string(q.Args), name) {
			r.asked = q.ID
			return q
		}
	}
	r.t.Fatal("no question")
	return protocol.Question{}
}

func answerOf(q protocol.Question, scope string) protocol.QuestionAnswerParams {
	return protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Scope: scope}
}

func answerWith(scope string) storingCall {
	return storingCall{prepare: func(r *refusal) any { return answerOf(r.question(), scope) }}
}

// job makes a schedule that is not due.
func (r *refusal) job() protocol.CronJobID {
	return ask(r.accessGateway, protocol.CronAdd, protocol.CronAddParams{
		Name: r.name("job"), Schedule: &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 24 * 3600 * 1000}, Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "what can you do"},
	}).Job.ID
}

// rule makes a rule.
func (r *refusal) rule() protocol.Rule {
	raw := json.RawMessage(`{"tool":"Bash","argv":["` + r.name("ls") + `"],"verdict":"allow"}`)
	return ask(r.accessGateway, protocol.RulePut, protocol.RulePutParams{Policy: raw})
}

func (r *refusal) app() protocol.AppID {
	return ask(r.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: r.name("app"), Scopes: protocol.AppScopes}).App.ID
}

// device pairs a client.
func (r *refusal) device() protocol.DeviceID {
	m := newMachine(r.t, r.name("phone"))
	r.pairByLink(m, m.device(protocol.RoleClient))
	for _, d := range r.list().Devices {
		if d.Name == m.name {
			return d.ID
		}
	}
	r.t.Fatal("no device")
	return ""
}

// pairing makes a client ask to be paired.
func (r *refusal) pairing() protocol.Question {
	m := newMachine(r.t, r.name("phone"))
	pair(r.t, r.list().Network.Addresses, m.device(protocol.RoleClient))
	return r.accessGateway.request(protocol.AskPair)
}

// back is where the browser returns to after a sign-in, and codeVerifier the secret of the app.
const back = "http://127.0.0.1:1/back"

var codeVerifier = strings.Repeat("v", 43)

// register registers an app and returns its client ID.
func (r *refusal) register() (status int, client string) {
	status, answer, _ := r.programs.request("POST", "/oauth/register", `{"client_name":"`+r.name("app")+`","redirect_uris":["`+back+`"]}`)
	var out struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		r.t.Fatalf("registration: %s", answer)
	}
	return status, out.ID
}

// authorize makes an app ask to connect. page is the page that waits for the answer.
func (r *refusal) authorize(client string) (asked protocol.Question, page string) {
	sum := sha256.Sum256([]byte(codeVerifier))
	_, _, head := r.programs.request("GET", "/oauth/authorize?response_type=code&client_id="+client+"&redirect_uri="+back+
		"&code_challenge="+base64.RawURLEncoding.EncodeToString(sum[:])+"&code_challenge_method=S256", "")
	for _, q := range r.questions(protocol.AskApp) {
		if q.App.ClientID == client {
			return q, head.Get("Location")
		}
	}
	r.t.Fatal("the person is not asked about the app")
	return asked, ""
}

// consent makes a new app ask to connect.
func (r *refusal) consent() protocol.Question {
	_, client := r.register()
	id, _ := r.authorize(client)
	return id
}

// stranger makes somebody unknown write on a channel.
func (r *refusal) stranger() protocol.PairParams {
	in := inbound(r).(protocol.ChannelInboundParams)
	if _, err := client.Call(r.t.Context(), r.channel, protocol.ChannelInbound, in); err != nil {
		r.t.Fatal(err)
	}
	return protocol.PairParams{Channel: "telex", SenderID: in.Peer.ID}
}

// inbound returns the first message of somebody on a channel.
func inbound(r *refusal) any {
	return protocol.ChannelInboundParams{
		Channel: "telex", AccountID: "office", Peer: protocol.Peer{Kind: "dm", ID: r.name("ann")}, Message: protocol.ChannelMessage{ID: protocol.NewID(), Text: "hello"},
	}
}

// account makes an account of a channel that cannot connect.
func (r *refusal) account() protocol.ChannelParams {
	p := accountOf(r.name("acc"))
	ask(r.accessGateway, protocol.ChannelStart, p)
	return protocol.ChannelParams{Channel: p.Channel, AccountID: p.AccountID}
}

func accountOf(id string) protocol.ChannelStartParams {
	text := func(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
	return protocol.ChannelStartParams{Channel: "xmpp", AccountID: id, Config: map[string]json.RawMessage{
		"jid": text(id + "@example.org"), "password": text("secret"), "server": text("127.0.0.1:1"),
	}}
}

// server adds an MCP server that does not run, with a secret.
func (r *refusal) server() protocol.ServerParams {
	p := serverOf(r.name("srv"))
	ask(r.accessGateway, protocol.ServerSet, p)
	return protocol.ServerParams{Name: p.Name}
}

func serverOf(name string) protocol.ServerSetParams {
	return protocol.ServerSetParams{Name: protocol.ServerName(name), Spec: protocol.ServerSpec{
		URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer secret-of-" + name}, Disabled: true,
	}}
}
