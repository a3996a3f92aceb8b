package skills

import (
	"context"
	"slices"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

func TestOnlyFilesOfSkillsCountAsTheirChanges(t *testing.T) {
	if slices.ContainsFunc([]string{"agents/main/MEMORY.md", "agents/main/memory/a.md"}, isOfSkill) {
		t.Error("memory is no skill")
	}
	for _, path := range []string{"skills", "skills/x/SKILL.md", "agents", "agents/main", "agents/main/skills/x/a.md"} {
		if !isOfSkill(path) {
			t.Errorf("%s does not count", path)
		}
	}
}

func TestFilesOnDiskAreHotReloaded(t *testing.T) {
	c := newTestCatalog(t)
	files := workspace.NewFiles(c.home, nil)
	told := make(chan bool, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- files.Watch(ctx, func() {}, func(paths []string) { told <- slices.ContainsFunc(paths, isOfSkill) })
	}()
	for _, path := range []string{"skills/new/SKILL.md", "agents/main/skills/own/SKILL.md", "skills/new/SKILL.md"} {
		text := "At " + time.Now().Format(time.RFC3339Nano)
		deadline := time.Now().Add(3 * time.Minute)
		for seen := false; !seen; {
			c.write(t, path, text) // until the watch has started
			select {
			case skills := <-told:
				if !skills {
					continue
				}
				s, err := c.Status(t.Context(), protocol.SkillsParams{})
				if err != nil {
					t.Fatal(err)
				}
				seen = slices.ContainsFunc(s.Skills, func(e protocol.SkillStatusEntry) bool { return e.Description == text })
			case <-time.After(50 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s was not seen", path)
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
