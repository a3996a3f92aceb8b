package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// announcingServer connects a server that announces changed lists after each list that is read, and
// that has one more tool each time if grows. It returns the seconds at which the tools were read.
func announcingServer(t *testing.T, grows bool, during time.Duration) (at []int) {
	t.Helper()
	m, _ := ready(t, nil)
	s, _ := m.find("srv")
	var mu sync.Mutex // guards at
	began := time.Now()
	server := mcp.NewServer(&mcp.Implementation{Name: "restless"}, nil)
	add := func(name string) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: object()}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	}
	add("tool")
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			mu.Lock()
			at = append(at, int(time.Since(began).Seconds()))
			n := len(at)
			mu.Unlock()
			if grows {
				add(fmt.Sprintf("tool_%d", n))
			}
			res, err := next(ctx, method, r)
			for range 10 {
				s.stale.mark(true, true)
			}
			return res, err
		}
	})
	ours, theirs := mcp.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	connection, err := s.client().Connect(ctx, ours, &mcp.ClientSessionOptions{ProtocolVersion: legacyVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	s.session = connection
	s.stale.mark(true, false)
	s.followLists(ctx)
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(at)
}

func TestListsAreReadLessOftenWhileNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := announcingServer(t, false, 20*time.Minute)
		if want := []int{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111}; !slices.Equal(got, want) {
			t.Errorf("read after %v seconds, want %v", got, want)
		}
	})
}

func TestListsThatChangeAreReadOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := announcingServer(t, true, 5500*time.Millisecond)
		if want := []int{0, 1, 2, 3, 4, 5}; !slices.Equal(got, want) {
			t.Errorf("read after %v seconds, want %v", got, want)
		}
	})
}

func TestPagesEnd(t *testing.T) {
	for what, c := range map[string]struct {
		next  func(cursor string) (string, error)
		items int
		err   string
		log   string
	}{
		"one page":             {func(string) (string, error) { return "", nil }, 1, "", ""},
		"the same cursor":      {func(string) (string, error) { return "8", nil }, 2, "", "does not end"},
		"a circle":             {func(c string) (string, error) { return map[string]string{"": "a", "a": "b", "b": "a"}[c], nil }, 3, "", "page 3 leads to a page"},
		"no end":               {func(c string) (string, error) { return c + "x", nil }, 50, "", "more than 50 things"},
		"a failure":            {func(string) (string, error) { return "", fmt.Errorf("broken") }, 0, "list the things: broken", ""},
		"a failure in between": {func(c string) (string, error) { return "2", map[string]error{"2": fmt.Errorf("broken")}[c] }, 1, "", "Page 2 of the things could not be read"},
	} {
		var log ring
		list, err := readPages(t.Context(), &log, "things", 50, func(_ context.Context, cursor string) ([]int, string, error) {
			next, err := c.next(cursor)
			return []int{1}, next, err
		})
		if len(list) != c.items || fmt.Sprint(err) != cmpText(c.err) || !strings.Contains(strings.Join(log.lines(), "\n"), c.log) || c.log == "" && len(log.lines()) > 0 {
			t.Errorf("%s: got %d items, error %v, log %q; want %d, %q, %q", what, len(list), err, log.lines(), c.items, c.err, c.log)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var log ring
		_, err := readPages(t.Context(), &log, "tools", 50, func(ctx context.Context, _ string) ([]int, string, error) {
			<-ctx.Done()
			return nil, "", ctx.Err()
		})
		if err == nil || !strings.Contains(err.Error(), "did not list its tools within 30 s") {
			t.Errorf("a list that never comes: got error %v, want a timeout", err)
		}
	})
}

func cmpText(err string) string {
	if err == "" {
		return "<nil>"
	}
	return err
}

func TestEqualToolsAreOfferedOnce(t *testing.T) {
	var log ring
	tool := func(name string) *mcp.Tool { return &mcp.Tool{Name: name, InputSchema: object()} }
	list := readTools(&log, []*mcp.Tool{tool("dup"), tool("dup"), tool("dup"), tool("ok"), tool(""), {Name: "unusable", InputSchema: func() {}}})
	if len(list) != 2 || list[0].name != "dup" || list[1].name != "ok" {
		t.Errorf("got %+v, want dup and ok", list)
	}
	if got := strings.Count(strings.Join(log.lines(), "\n"), `Another tool "dup" is left out`); got != 2 {
		t.Errorf("the log names dup %d times, want 2: %q", got, log.lines())
	}
}

func TestPublicNamesAreUnique(t *testing.T) {
	long := strings.Repeat("x", 70)
	names := []string{"a.b", "a/b", "a_b", long, long + "1"}
	first := publicNames(names)
	names = append(names, strings.TrimPrefix(first["a.b"], "srv__"), first["a/b"], first[long]) // as a hostile server could
	for range 3 {
		got := publicNames(names)
		seen := make(map[string]bool)
		for name, public := range got {
			if seen[public] || len("srv__")+len(public) > protocol.MaxModelTool {
				t.Errorf("%s: got the name %s, want a short one of its own", name, public)
			}
			seen[public] = true
		}
		turned := slices.Clone(names)
		slices.Reverse(turned)
		if again := publicNames(turned); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("in another order: got %v, want %v", again, got)
		}
		for _, public := range got {
			if !slices.Contains(names, public) {
				names = append(names, public)
			}
		}
	}
}

func publicNames(names []string) map[string]string {
	var list []remoteTool
	for _, n := range names {
		list = append(list, remoteTool{name: n})
	}
	setPublicNames("srv", list)
	out := make(map[string]string)
	for _, one := range list {
		out[one.name] = one.public
	}
	return out
}
