//go:build unix

package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
)

// twice makes a request while nothing can be stored, which must fail, and again. It returns the
// second answer.
func (r *refusal) twice(what, method, path, body string, headers ...string) (answer string, head http.Header) {
	r.t.Helper()
	r.setStore(true)
	status, answer, _ := r.programs.request(method, path, body, headers...)
	r.setStore(false)
	if status < 500 {
		r.t.Errorf("%s while nothing can be stored: got %d %s, want an error of the server", what, status, answer)
	}
	status, answer, head = r.programs.request(method, path, body, headers...)
	if status >= 400 {
		r.t.Errorf("%s afterwards: got %d %s, want success", what, status, answer)
	}
	return answer, head
}

// form makes a request of OAuth twice, and returns the tokens.
func (r *refusal) form(what, path string, values url.Values) (tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
},
) {
	r.t.Helper()
	answer, _ := r.twice(what, "POST", path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	if answer != "" {
		if err := json.Unmarshal([]byte(answer), &tokens); err != nil {
			r.t.Fatalf("%s: %s", what, answer)
		}
	}
	return tokens
}

// TestSignInThatIsNotStoredCanBeRepeated takes an app through its sign-in, while the store refuses
// each step once.
func TestSignInThatIsNotStoredCanBeRepeated(t *testing.T) {
	r := openRefusal(t)
	r.twice("registration", "POST", "/oauth/register", `{"client_name":"Editor","redirect_uris":["`+back+`"]}`)
	_, client := r.register()
	consent, page := r.authorize(client)
	r.accessGateway.allow(consent)
	_, _, head := r.programs.request("GET", page, "")
	to, err := url.Parse(head.Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		t.Fatalf("got %q, %v, want an address with a code", to, err)
	}
	tokens := r.form("exchange of the code", "/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "client_id": {client}, "redirect_uri": {back}, "code_verifier": {codeVerifier},
	})
	renewed := r.form("refresh", "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.Refresh}, "client_id": {client}})
	isValid := func() bool {
		status, _, _ := r.programs.request("POST", "/api/v1/tools/whoami", "{}", "Authorization", "Bearer "+renewed.Access)
		return status == http.StatusOK
	}
	r.setStore(true)
	r.programs.request("POST", "/oauth/revoke", url.Values{"token": {renewed.Refresh}, "client_id": {client}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	r.setStore(false)
	if !isValid() {
		t.Error("the token of an app whose revocation was not stored is refused, want it valid")
	}
	r.form("revocation", "/oauth/revoke", url.Values{"token": {renewed.Refresh}, "client_id": {client}})
	if isValid() {
		t.Error("a revoked token is valid")
	}
}

// TestCallOfAnAppIsNotMadeIfItIsNotStored has no question either: it could not be answered.
func TestCallOfAnAppIsNotMadeIfItIsNotStored(t *testing.T) {
	r := openRefusal(t)
	token := r.token("Editor", protocol.AppScopes...)
	body := `{"target":{"node_name":"box"},"op":"mkdir","path":` + mustQuote(filepath.Join(r.workspace, "new")) + `}`
	for name, call := range r.surfaces() {
		r.setStore(true)
		_, answer, _ := call(token, "file", body)
		r.setStore(false)
		if code(answer) != string(protocol.FaultInternal) {
			t.Errorf("%s: got %s, want an internal error", name, answer)
		}
		if list := r.pending(); len(list) != 0 {
			t.Errorf("%s: got the questions %+v, want none", name, list)
		}
	}
}
