package rpc

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// TestNoDeviceClosesAnothersWindow: a client chooses its ID freely, and a newer connection with the
// same ID closes the older one.
func TestNoDeviceClosesAnothersWindow(t *testing.T) {
	services := newFakes().services()
	devices, err := services.Devices.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var phone auth.Principal
	for _, d := range devices.Devices {
		if d.Role == protocol.RoleClient {
			phone = auth.Device(d)
		}
	}
	srv := New(services)
	defer srv.Close()
	owner := auth.Owner("this computer")
	dial := func(who auth.Principal) *websocket.Conn {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { srv.serve(w, r, &who) }))
		t.Cleanup(h.Close)
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.URL, "http")+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		ask(t, ws, `{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"maxProtocol":1,"client":{"id":"window","mode":"client"}}}`, "hello-ok")
		return ws
	}
	window := dial(owner)
	taken := dial(phone)
	const list = `{"type":"req","id":"l","method":"nodes.list"}`
	ask(t, window, list, `"nodes"`)
	again := dial(owner)
	if _, _, err := window.ReadMessage(); !websocket.IsCloseError(err, protocol.CloseReplaced) {
		t.Errorf("the owner's older window: %v", err)
	}
	ask(t, again, list, `"nodes"`)
	ask(t, taken, list, `"nodes"`)
}

func ask(t *testing.T, ws *websocket.Conn, request, want string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(request)); err != nil {
		t.Fatal(err)
	}
	_, data, err := ws.ReadMessage()
	if err != nil || !strings.Contains(string(data), want) {
		t.Fatalf("got %v, %v; want data with %v and no error", fmt.Sprintf("%s: %.300s", request, data), err, want)
	}
}
