package skills

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

// testCatalog is a catalog on real files.
type testCatalog struct {
	*Catalog
	home  string
	nodes []protocol.NodeInfo
	cfg   config.Config
	set   []string
}

func newTestCatalog(t *testing.T) *testCatalog {
	t.Helper()
	c := &testCatalog{home: t.TempDir(), cfg: config.Default()}
	has := func(id protocol.NodeID, program string) (has, known bool) {
		return program == "jq" || program == "git", id == "full"
	}
	hasVariable := func(id protocol.NodeID, name string) (has, known bool) { return name == "JQ_COLORS", id == "full" }
	c.Catalog = New(Options{
		Has: has, HasVariable: hasVariable, Files: workspace.NewFiles(c.home, nil), Nodes: func() []protocol.NodeInfo { return c.nodes }, Config: func() config.Config { return c.cfg },
		Set: func(_ context.Context, path string, value json.RawMessage) error {
			c.set = append(c.set, path+"="+string(value))
			return nil
		},
	})
	return c
}

func (c *testCatalog) write(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(c.home, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *testCatalog) entry(t *testing.T, name string) protocol.SkillStatusEntry {
	t.Helper()
	s, err := c.Status(t.Context(), protocol.SkillsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Skills {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no skill %q in %+v", name, s.Skills)
	return protocol.SkillStatusEntry{}
}

func skillRequiring(caps ...string) string {
	raw, _ := json.Marshal(caps)
	return `---
name: x
metadata: {"gsv": {"requires": {"capabilities": ` + string(raw) + `}}}
---
What x does.
`
}

func bins(requires string) string {
	return "---\nname: x\nmetadata: {\"openclaw\":{\"requires\":{" + requires + "}}}\n---\n"
}
