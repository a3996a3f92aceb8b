package channels

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

// post serves one kind of channel, "pigeon", and records its accounts and requests.
type post struct {
	mu       sync.Mutex // guards the fields below: requests are served concurrently
	accounts map[string]*protocol.ChannelAccountStatus
	secrets  map[string]string
	pairs    map[string]protocol.PendingPair
	did      []string
	config   map[string]Policy
	slow     time.Duration // duration of a start; constant while it serves
}

var pigeon = protocol.ChannelKind{Channel: "pigeon", Title: "Pigeon post", Fields: []protocol.ChannelField{
	{Name: "loft", Title: "Loft", Required: true}, {Name: "key", Title: "Key", Required: true, Secret: true}, {Name: "rooms", Title: "Rooms"},
}}

func newPost() *post {
	return &post{
		accounts: map[string]*protocol.ChannelAccountStatus{}, secrets: map[string]string{}, config: map[string]Policy{"pigeon": {DMPolicy: "pairing", AllowFrom: []string{"ann"}}},
		pairs: map[string]protocol.PendingPair{"pigeon:bob": {Channel: "pigeon", SenderID: "bob", RequestedAt: 5}, "pigeon:al": {Channel: "pigeon", SenderID: "al", RequestedAt: 3}},
	}
}

// serve answers a method, one request at a time.
func serve[P, R any](p *post, f *feedtest.Gateway, m protocol.Method[P, R], answer func(P) (R, error)) {
	feedtest.On(f, m, func(in P) (R, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return answer(in)
	})
}

func (p *post) serve(f *feedtest.Gateway) {
	serve(p, f, protocol.ChannelsList, func(protocol.Empty) (protocol.ChannelsListResult, error) {
		return protocol.ChannelsListResult{Kinds: []protocol.ChannelKind{pigeon}, Channels: []protocol.ChannelEntry{{Channel: "telex", AccountID: "office"}, {Channel: "gone", AccountID: "x"}}}, nil
	})
	serve(p, f, protocol.ChannelStatus, func(in protocol.ChannelParams) (protocol.ChannelStatusResult, error) {
		res := protocol.ChannelStatusResult{Channel: in.Channel}
		switch in.Channel {
		case "telex":
			res.Accounts = append(res.Accounts, protocol.ChannelAccountStatus{AccountID: "office", Connected: true, State: protocol.AccountConnected})
		case "gone":
			return res, protocol.ErrNotFound.With("Unknown channel: gone")
		default:
			for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
				one := *p.accounts[id]
				one.Settings = maps.Clone(one.Settings)
				res.Accounts = append(res.Accounts, one)
			}
		}
		return res, nil
	})
	serve(p, f, protocol.PairList, func(protocol.Empty) (protocol.PairListResult, error) {
		return protocol.PairListResult{Pairs: maps.Clone(p.pairs)}, nil
	})
	serve(p, f, protocol.PairApprove, func(in protocol.PairParams) (protocol.PairApproveResult, error) {
		delete(p.pairs, in.Channel+":"+in.SenderID)
		p.did = append(p.did, "approve "+in.SenderID)
		return protocol.PairApproveResult{}, nil
	})
	serve(p, f, protocol.PairReject, func(in protocol.PairParams) (protocol.PairRejectResult, error) {
		p.did = append(p.did, "reject "+in.SenderID)
		return protocol.PairRejectResult{}, protocol.ErrNotFound.With("nobody of that name waits")
	})
	serve(p, f, protocol.ConfigGet, func(in protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
		raw, err := json.Marshal(p.config)
		return protocol.ConfigGetResult{Value: raw}, err
	})
	serve(p, f, protocol.ConfigSet, func(in protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
		p.did = append(p.did, in.Path+"="+string(in.Value))
		return protocol.ConfigSetResult{}, nil
	})
	serve(p, f, protocol.ChannelLogin, func(in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
		a := p.accounts[in.AccountID]
		if a == nil {
			a = &protocol.ChannelAccountStatus{AccountID: in.AccountID, State: protocol.AccountStopped, Settings: map[string]json.RawMessage{}}
			p.accounts[in.AccountID] = a
		}
		for k, v := range in.Config {
			if k == "key" {
				p.secrets[in.AccountID] = string(v)
			} else {
				a.Settings[k] = v
			}
		}
		res := protocol.ChannelLoginResult{OK: true, Channel: in.Channel, AccountID: in.AccountID}
		switch string(a.Settings["loft"]) {
		case `"away"`:
			return res, protocol.ErrUnavailable.With("Pigeon post is not connected: nobody is at the loft")
		case `"qr"`:
			res.QRDataURL, res.Message = "data:image/png;base64,"+base64.StdEncoding.EncodeToString([]byte("png")), "Scan this."
		case `"broken"`:
			res.QRDataURL = "data:image/png,x"
		}
		return res, nil
	})
	feedtest.On(f, protocol.ChannelStart, func(in protocol.ChannelStartParams) (protocol.ChannelOK, error) {
		time.Sleep(p.slow)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.did = append(p.did, "start "+in.AccountID)
		p.accounts[in.AccountID].State = protocol.AccountConnected
		return protocol.ChannelOK{OK: true}, nil
	})
	serve(p, f, protocol.ChannelStop, func(in protocol.ChannelParams) (protocol.ChannelOK, error) {
		p.accounts[in.AccountID].State = protocol.AccountStopped
		return protocol.ChannelOK{OK: true}, nil
	})
	serve(p, f, protocol.ChannelLogout, func(in protocol.ChannelParams) (protocol.ChannelOK, error) {
		delete(p.accounts, in.AccountID)
		return protocol.ChannelOK{OK: true}, nil
	})
}

func TestChannelsAreFollowed(t *testing.T) {
	p := newPost()
	feedtest.Run(t, feed.New, p.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		c := newModel(a)
		go c.Follow(t.Context())
		synctest.Wait()
		v := c.Value.Get()
		if !v.Loaded || len(v.Accounts) != 1 || v.Accounts[0].Own || len(v.Pending) != 2 || v.Pending[0].SenderID != "al" || v.Policies["pigeon"].AllowFrom[0] != "ann" {
			t.Errorf("got %+v; want the account of ann with two pending senders, al first", v)
		}
		p.mu.Lock()
		delete(p.pairs, "pigeon:al")
		p.accounts["default"] = &protocol.ChannelAccountStatus{AccountID: "default", State: protocol.AccountNoLogin, Settings: map[string]json.RawMessage{"loft": json.RawMessage(`"roof"`)}}
		p.mu.Unlock()
		f.Change(protocol.Change{Kind: protocol.ChangeChannels, Path: "pigeon"})
		if v = c.Value.Get(); len(v.Accounts) != 2 || !v.Accounts[0].Own || accountTitle(v.Accounts[0]) != "roof" || accountTitle(v.Accounts[1]) != "office" {
			t.Errorf(`got %+v; want Accounts of length 2, Accounts[0].Own, accountTitle of Accounts[0] "roof" and accountTitle of Accounts[1] "office"`, v.Accounts)
		}
		p.mu.Lock()
		p.accounts["default"].LastActivity = 7
		p.mu.Unlock()
		time.Sleep(channelsInterval + time.Second)
		if one, _ := c.Value.Get().Account("pigeon:default"); one.LastActivity != 7 {
			t.Error("what is told by no event is not seen")
		}
		feedtest.On(f, protocol.PairList, func(protocol.Empty) (protocol.PairListResult, error) {
			return protocol.PairListResult{}, protocol.ErrInternal.With("the disk is full")
		})
		f.Change(protocol.Change{Kind: protocol.ChangeChannels})
		if v = c.Value.Get(); v.Problem != "The disk is full" || len(v.Accounts) != 2 {
			t.Errorf("a failure shows %+v", v)
		}
	})
}

func TestAccountIsFilledInChangedAndNeverShowsItsSecret(t *testing.T) {
	p := newPost()
	feedtest.Run(t, feed.New, p.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		c := newModel(a)
		c.Load(t.Context())
		form := newFields(pigeon, freeAccount(c.Value.Get().Accounts, "pigeon"))
		form.Values["loft"] = " roof "
		if _, err := c.Save(t.Context(), form); err == nil || !strings.Contains(err.Error(), "Key") {
			t.Errorf("without a key: %v", err)
		}
		form.Values["key"] = "a secret "
		key, err := c.Save(t.Context(), form)
		if err != nil || key != "pigeon:default" || p.secrets["default"] != `"a secret "` || string(p.accounts["default"].Settings["loft"]) != `"roof"` {
			t.Fatalf("got %s %v, %+v; want no error, key \"pigeon:default\", secrets[\"default\"] `\"a secret \"` and accounts[\"default\"].Settings[\"loft\"] `\"roof\"`", key, err, p)
		}
		v := c.Value.Get()
		one, ok := v.Account(key)
		if !ok || one.State != protocol.AccountConnected || v.Logins[key].QR != nil {
			t.Errorf("got %+v; want ok, one.State AccountConnected and no v.Logins[key].QR", v)
		}
		change := fieldsOf(one)
		if change.Values["key"] != "" || change.Values["loft"] != "roof" {
			t.Errorf("the form has %v", change.Values)
		}
		change.Values["rooms"] = "a, b"
		if _, err := c.Save(t.Context(), change); err != nil {
			t.Error(err)
		}
		last := f.Called(protocol.ChannelLogin.Name)
		if got := string(last[len(last)-1]); !strings.Contains(got, `{"rooms":"a, b"}`) {
			t.Errorf("what was not touched is told too: %s", got)
		}
		if freeAccount(c.Value.Get().Accounts, "pigeon") != "account-2" {
			t.Error("a second account has the first one's name")
		}
	})
}

func TestALoginShowsItsPictureAndTimesOut(t *testing.T) {
	p := newPost()
	feedtest.Run(t, feed.New, p.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		c := newModel(a)
		form := newFields(pigeon, "default")
		form.Values = map[string]string{"loft": "qr", "key": "k"}
		key, err := c.Save(t.Context(), form)
		if v := c.Value.Get(); err != nil || string(v.Logins[key].QR) != "png" || v.Logins[key].Message != "Scan this." || slices.Contains(p.did, "start default") {
			t.Errorf(`%v, %+v, did %v; want no error, v.Logins[key].QR "png", v.Logins[key].Message "Scan this." and no "start default" in p.did`, err, v.Logins, p.did)
		}
		one, _ := c.Value.Get().Account(key)
		c.Start(one)
		synctest.Wait()
		if len(c.Value.Get().Logins) != 0 {
			t.Error("the picture stays when it was scanned")
		}
		if _, err := c.Save(t.Context(), form); err == nil || !strings.Contains(err.Error(), "another name") {
			t.Errorf("an account of that name is written over: %v", err)
		}
		form.StoredKey = key
		form.Values["loft"] = "broken"
		if _, err := c.Save(t.Context(), form); err == nil || !strings.Contains(err.Error(), "Log in again") {
			t.Errorf(`got %v; want an error with "Log in again"`, err)
		}
		form.Values["loft"] = "away"
		if key, err := c.Save(t.Context(), form); !errors.Is(err, protocol.ErrUnavailable) || key != "pigeon:default" || err.Error() != "Pigeon post is not connected: nobody is at the loft" {
			t.Errorf(`got %q %v; want error ErrUnavailable, key "pigeon:default" and the error "Pigeon post is not connected: nobody is at the loft"`, key, err)
		}
	})
}

func TestAccountIsBusyWhileSomethingIsDone(t *testing.T) {
	p := newPost()
	p.slow = 5 * time.Second
	p.accounts["default"] = &protocol.ChannelAccountStatus{AccountID: "default", State: protocol.AccountStopped, Settings: map[string]json.RawMessage{}}
	feedtest.Run(t, feed.New, p.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		c := newModel(a)
		c.Load(t.Context())
		one, _ := c.Value.Get().Account("pigeon:default")
		c.Start(one)
		synctest.Wait()
		c.Load(t.Context())
		if one, _ = c.Value.Get().Account("pigeon:default"); accountWord(one) != "connecting…" {
			t.Errorf(`it is said to be %s, want "connecting…"`, accountWord(one))
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if one, _ = c.Value.Get().Account("pigeon:default"); accountWord(one) != "connected" {
			t.Errorf(`it is said to be %s, want "connected"`, accountWord(one))
		}
		c.Stop(one)
		synctest.Wait()
		if one, _ = c.Value.Get().Account("pigeon:default"); accountWord(one) != "stopped" {
			t.Errorf(`it is said to be %s, want "stopped"`, accountWord(one))
		}
		c.Logout(one)
		synctest.Wait()
		if _, ok := c.Value.Get().Account("pigeon:default"); ok {
			t.Error("it is still there")
		}
	})
}

func TestUnknownSendersAreAnsweredAndPoliciesReset(t *testing.T) {
	p := newPost()
	feedtest.Run(t, feed.New, p.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		c := newModel(a)
		c.Load(t.Context())
		v := c.Value.Get()
		c.Answer(v.Pending[0], true)
		if len(c.Value.Get().Pending) != 1 {
			t.Error("who was answered is still there")
		}
		synctest.Wait()
		c.Answer(v.Pending[1], false)
		synctest.Wait()
		if n := a.View().Notice; n == nil || n.Text != "Nobody of that name waits" || len(c.Value.Get().Pending) != 1 {
			t.Errorf("a refused answer says %+v and leaves %+v", n, c.Value.Get().Pending)
		}
		undo := c.SetPolicy("pigeon", policyOpen)
		synctest.Wait()
		undo()
		synctest.Wait()
		undo = c.SetAllowed("pigeon", nil)
		synctest.Wait()
		undo()
		synctest.Wait()
		want := `approve al,reject bob,channels.pigeon.dmPolicy="open",channels.pigeon.dmPolicy="pairing",channels.pigeon.allowFrom=,channels.pigeon.allowFrom=["ann"]`
		if got := strings.Join(p.did, ","); got != want {
			t.Errorf("did: got %s, want %s", got, want)
		}
	})
}

func TestAccountWords(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for want, s := range map[string]protocol.ChannelAccountStatus{
		"Offline: the wire is cut. Trying again in 8 s.":                       {State: protocol.AccountOffline, Error: "the wire is cut.", RetryAt: 1_008_000},
		"Offline. Trying again now.":                                           {State: protocol.AccountOffline, RetryAt: 1},
		"Cannot log in: wrong password. Correct the settings or log in again.": {State: protocol.AccountNoLogin, Error: "cannot log in: wrong password"},
		"Connecting. The last attempt failed: the wire is cut.":                {State: protocol.AccountConnecting, Error: "the wire is cut"},
		"Stopped. Nobody can reach the agent there until you start it.":        {State: protocol.AccountStopped},
		"Connected, with a problem: the room is locked.":                       {State: protocol.AccountConnected, Error: "the room is locked"},
		"Connected. People can write to the agent.":                            {State: protocol.AccountConnected, Error: ""},
	} {
		if got := accountText(Account{ChannelAccountStatus: s}, now); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
	for name, want := range map[string]string{"": "default", " Main Office! ": "main-office", "ä": "default", "a_b-c": "a_b-c", strings.Repeat("x", 70): strings.Repeat("x", 64)} {
		if got := accountID(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if title, _ := question.PendingText(protocol.PendingPair{SenderID: "a@b", SenderName: "Ann"}); title != "Ann (a@b)" {
		t.Errorf("got %v, want %q", title, "Ann (a@b)")
	}
}
